import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineJob, defineModel } from "../src/index.js";

const User = defineModel({
  name: "users",
  schema: z.object({ tenant: z.string(), id: z.string(), country: z.string().default("no") }),
  primaryKey: ["tenant", "id"],
});
const Country = defineModel({
  name: "countries",
  schema: z.object({ code: z.string() }),
  primaryKey: "code",
});
/** Its payload has the field of the scope. */
const Welcome = defineJob({
  name: "welcome",
  schema: z.object({ tenant: z.string(), id: z.string() }),
});
const Resize = defineJob({ name: "resize", schema: z.object({ url: z.string() }) });
const Plain = defineJob({ name: "plain", schema: z.string() });
const models = { users: User, countries: Country };
const jobs = { welcome: Welcome, resize: Resize, plain: Plain };

const open = (kv: EmbeddedKv) => createDatabase({ kv, models, jobs });

let kv: EmbeddedKv;
let db: Awaited<ReturnType<typeof open>>;
beforeEach(async () => {
  kv = await openKv(":memory:");
  db = await open(kv);
});
afterEach(() => kv.close());

const waiting = async (name: "welcome" | "resize" | "plain") =>
  (await db.jobs[name].list({ state: "waiting" })).items.map(({ payload }) => payload);

it("a scope enqueues jobs with its values", async () => {
  const acme = db.scope({ tenant: "acme" });
  await acme.jobs.welcome.enqueue({ id: "1" });
  await acme.jobs.welcome.enqueueMany([{ id: "2" }, { id: "3", tenant: "acme" }]);
  await acme.jobs.resize.enqueue({ url: "a" });
  await acme.jobs.plain.enqueue("text");
  const tenant = "acme";
  expect(await waiting("welcome")).toEqual(["1", "2", "3"].map((id) => ({ tenant, id })));
  expect(await waiting("resize")).toEqual([{ url: "a" }]);
  expect(await waiting("plain")).toEqual(["text"]);
});

it("a job of a scope has no other value of it", async () => {
  const { welcome } = db.scope({ tenant: "acme" }).jobs;
  const other = { id: "1", tenant: "other" };
  const refused = { code: "KW_SCOPE", at: "data.tenant" };
  await expect(welcome.enqueue(other)).rejects.toMatchObject(refused);
  await expect(welcome.enqueueMany([{ id: "2" }, other])).rejects.toMatchObject(refused);
  await expect(welcome.enqueue({} as never)).rejects.toThrow("id (expected string)");
  expect(await db.jobs.stored()).toEqual([]);
});

it("jobs commit with the rows of a scope, or not at all", async () => {
  const acme = db.scope({ tenant: "acme" });
  const create = (id: string) =>
    acme.transaction(async (tx) => {
      await tx.jobs.welcome.enqueue({ id });
      await tx.users.create({ data: { id } });
    });
  await create("1");
  await expect(create("1")).rejects.toMatchObject({ code: "KW_UNIQUE_CONSTRAINT" });
  await db.transaction(async (tx) => {
    await tx.scope({ tenant: "acme" }).jobs.welcome.enqueue({ id: "2" });
  });
  await acme.withContext("why").jobs.welcome.enqueue({ id: "3" });
  expect(await waiting("welcome")).toMatchObject([{ id: "1" }, { id: "2" }, { id: "3" }]);
});

it("a scope within a scope adds its values", async () => {
  const Of = defineJob({
    name: "of",
    schema: z.object({ tenant: z.string(), country: z.string(), n: z.number() }),
  });
  const other = await createDatabase({ kv, models, jobs: { of: Of } });
  const scope = other.scope({ tenant: "acme" }).scope({ country: "no" });
  await scope.jobs.of.enqueue({ n: 1 });
  const { items } = await other.jobs.of.list({ state: "waiting" });
  expect(items[0]?.payload).toEqual({ tenant: "acme", country: "no", n: 1 });
});

it("a unique key is unique within its scope", async () => {
  const enqueue = (tenant: string) =>
    db.scope({ tenant }).jobs.resize.enqueue({ url: "a" }, { unique: "key" });
  const [first, again, other] = [await enqueue("a"), await enqueue("a"), await enqueue("b")];
  expect(again).toEqual({ id: first.id, isNew: false });
  expect(other.isNew).toBe(true);
  const many = await db
    .scope({ tenant: "b" })
    .jobs.resize.enqueueMany([{ url: "key" }, { url: "c" }], { unique: ({ url }) => url });
  expect(many.map(({ isNew }) => isNew)).toEqual([false, true]);
  const plain = await db.jobs.resize.enqueue({ url: "a" }, { unique: "key" });
  expect(plain.isNew).toBe(true);
});

it("what sees the jobs of other scopes is refused, and says where it is", async () => {
  // biome-ignore lint/suspicious/noExplicitAny: a program without types calls what there is not.
  const scope = db.scope({ tenant: "acme" }) as any;
  const message = /jobs of a scope can only be enqueued/;
  for (const call of ["get", "list", "failed", "counts", "retry", "discard", "cancel"])
    expect(() => scope.jobs.welcome[call]("id")).toThrow(message);
  expect(() => scope.jobs.stored()).toThrow(message);
  expect(() => scope.jobs.named("welcome")).toThrow(message);
  expect(() => scope.work({ welcome: () => undefined })).toThrow(
    expect.objectContaining({ code: "KW_SCOPE" }),
  );
});

it("a hook enqueues for a row of a scope", async () => {
  const hooked = await createDatabase({
    kv,
    models,
    jobs,
    hooks: {
      users: {
        duringCreate: async ({ tenant, id }, { tx }) => {
          await tx.jobs.welcome.enqueue({ tenant, id });
        },
      },
    },
  });
  await hooked.scope({ tenant: "acme" }).users.create({ data: { id: "1" } });
  await hooked
    .scope({ tenant: "acme" })
    .scope({ country: "no" })
    .users.create({ data: { id: "2" } });
  expect(await waiting("welcome")).toMatchObject([{ id: "1" }, { id: "2" }]);
});

it("have the types of their scope", async () => {
  const acme = db.scope({ tenant: "acme" });
  expectTypeOf(acme.jobs.welcome.enqueue).parameter(0).toExtend<{ id: string; tenant?: string }>();
  expectTypeOf(acme.jobs.resize.enqueue).parameter(0).toEqualTypeOf<{ url: string }>();
  expectTypeOf(acme.jobs.plain.enqueue).parameter(0).toEqualTypeOf<string>();
  expectTypeOf(acme.jobs.welcome).not.toHaveProperty("counts");
  expectTypeOf(acme).not.toHaveProperty("work");
  const plain = await createDatabase({ kv, models });
  expectTypeOf(plain.scope({ tenant: "acme" })).not.toHaveProperty("jobs");
  expect("jobs" in plain.scope({ tenant: "acme" })).toBe(false);
});
