import { type EmbeddedKv, type Kv, type KvKey, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineModel,
  type MigrateOptions,
  migrate,
} from "../src/index.js";
import { formatPlan, planMigration } from "../src/migrate.js";
import { Crash, crashAtEachCommit, crashingKv, denoKv } from "./faulty-kv.js";
import { recordModel } from "./record-model.js";
import { rejection } from "./user-model.js";

const Tenant = defineModel({
  name: "tenants",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
});
const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.string(),
    tenantId: z.string(),
    email: z.string(),
    tags: z.array(z.string()).default([]),
    logins: z.int().default(1),
  }),
  primaryKey: "id",
  indexes: {
    byTenant: { key: "tenantId", sum: ["logins"], max: ["logins"] },
    byEmail: { key: "email", unique: true },
    byTag: { key: "tags", each: true, store: "copy" },
  },
  relations: { tenant: belongsTo("tenants", "tenantId", { onDelete: "cascade" }) },
  sum: ["logins"],
  live: true,
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string(), title: z.string().default("") }),
  primaryKey: "id",
  indexes: { byAuthor: { key: ["authorId", "title"] } },
  relations: { author: belongsTo("users", "authorId") },
});
const FreePost = defineModel({ ...Post, relations: {} });

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const user = (i: number) => ({
  id: `u${i}`,
  tenantId: "t",
  email: `${i}@example.com`,
  tags: ["all", `t${i % 3}`],
});

async function fill(on: Kv, rows: number) {
  const db = await createDatabase({ kv: on, models: { tenants: Tenant, users: User } });
  await db.tenants.create({ data: { id: "t" } });
  await db.users.createMany({ data: Array.from({ length: rows }, (_, i) => user(i)) });
  await db.users.create({ data: user(rows), expireIn: 3_600_000 });
  return db;
}

const openRest = (on: Kv) => createDatabase({ kv: on, models: { tenants: Tenant } });

const dropUsers = async (on: Kv, options: MigrateOptions = { dropModels: ["users"] }) =>
  await migrate(await openRest(on), options);

async function keysOf(on: Kv): Promise<KvKey[]> {
  const keys: KvKey[] = [];
  for await (const { key } of on.list({ prefix: [] })) keys.push(key);
  return keys;
}

/** The keys with a part that begins with the name of the model. */
const keysOfUsers = async (on: Kv) =>
  (await keysOf(on)).filter((key) =>
    key.some((part) => typeof part === "string" && part.startsWith("users")),
  );

/** Every kind of record that the ORM stores about a model, as if all of them were in use. */
const recordKinds = [
  ...["backfill", "counting", "transforming", "verifying", "adopting", "changes"],
  ...["unreported", "duplicates", "counted", "counted-until", "counted-row", "expiry", "failed"],
  ...["transform", "schema", "adopted", "refs", "cascade", "count", "a kind of a later version"],
];

describe("a model that is dropped", () => {
  it("leaves no key behind, and other models stay as they are", async () => {
    await fill(kv, 700);
    for (const kind of recordKinds) {
      await kv.set(["__keywright", kind, "users", "x"], 1);
      if (kind !== "count") await kv.set(["__keywright", kind, "users"], 1);
    }
    // Other models whose names begin in the same way.
    await kv.set(["user", "1"], 1);
    await kv.set(["__keywright", "count", "user"], 1);
    const before = await keysOf(kv);
    const progress: number[] = [];
    const result = await dropUsers(kv, {
      dropModels: ["users"],
      onProgress: ({ model, phase, done }) => {
        expect([model, phase]).toEqual(["users", "dropping"]);
        progress.push(done);
      },
    });
    expect(result.status).toBe("done");
    expect(result.plan.steps).toMatchObject([{ id: "users: drop-model", class: "breaking" }]);
    const [dropped, ...others] = result.dropped;
    expect(others).toEqual([]);
    expect(dropped).toMatchObject({ model: "users", prefix: "users" });
    // Rows, and the entries of three indexes. The rest are records.
    expect(dropped?.keys).toBeGreaterThan(701 * 5);
    expect(progress.at(-1)).toBe(dropped?.keys);
    expect(await keysOfUsers(kv)).toEqual([]);
    const isKept = (key: KvKey) => !key.some((part) => String(part).startsWith("users"));
    expect(await keysOf(kv)).toEqual(before.filter(isKept));
    expect(formatPlan(await planMigration(await openRest(kv)))).toBe("Nothing to migrate.");
  });

  it("is dropped under its prefix, with the places of rebuilt indexes and of a changed key", async () => {
    const members = { ...User, name: "members", prefix: "users", relations: {}, count: false };
    const indexes = { byEmail: { key: "email", unique: true } } as const;
    const rebuilt = { byEmail: { key: ["email", "tenantId"], unique: true } } as const;
    const versions = [
      defineModel({ ...members, indexes, live: false }),
      defineModel({ ...members, indexes: rebuilt, live: false }),
      defineModel({ ...members, indexes: rebuilt, live: false, primaryKey: "email" }),
    ];
    for (const model of versions) {
      const db = await createDatabase({ kv, models: { members: model as never } });
      await migrate(db, { accept: true });
      await (
        db as never as { members: { create: (o: object) => Promise<unknown> } }
      ).members.create({ data: user(versions.indexOf(model)) });
    }
    const places = new Set((await keysOf(kv)).map(([first]) => first));
    expect(places).toContain("users (email)");
    // Something else has stored this beside a row.
    await kv.set(["users (email)", "0@example.com", "avatar"], 1);
    const result = await dropUsers(kv, { dropModels: ["members"] });
    expect(result).toMatchObject({ status: "done", dropped: [{ model: "members" }] });
    expect(await keysOfUsers(kv)).toEqual([["users (email)", "0@example.com", "avatar"]]);
  });

  it("on Deno KV too", async () => {
    const deno = denoKv(kv);
    await fill(deno, 30);
    expect((await dropUsers(deno)).status).toBe("done");
    expect(await keysOfUsers(kv)).toEqual([]);
  });

  it("can be neither read nor written by a program that has it, which can begin anew afterwards", async () => {
    const old = await fill(kv, 3);
    const stop = new AbortController();
    const stopped = await dropUsers(kv, {
      dropModels: ["users"],
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    expect(stopped).toMatchObject({ status: "stopped", dropped: [] });
    const calls = [
      () => old.users.create({ data: user(9) }),
      () => old.users.update({ where: { id: "u1" }, data: { email: "x" } }),
      () => old.users.delete({ where: { id: "u1" } }),
      () => old.tenants.delete({ where: { id: "t" } }),
      () => old.users.findUnique({ where: { id: "u1" } }),
      () => old.users.findMany({ where: { tenantId: "t" } }),
      () => old.users.count(),
      () => old.transaction((tx) => tx.users.create({ data: user(8) })),
    ];
    const refused = { code: "KW_MODEL_DROPPED", model: "users", isRemoving: true };
    for (const call of calls) expect(await rejection(call())).toMatchObject(refused);
    expect(await rejection(fill(kv, 1))).toMatchObject(refused);
    const plan = await planMigration(await openRest(kv));
    expect(plan).toMatchObject({
      steps: [{ id: "users: drop-model", class: "safe" }],
      databaseOnly: [],
      isBreaking: false,
    });
    expect((await dropUsers(kv, {})).dropped).toMatchObject([{ model: "users" }]);
    for (const call of calls.slice(0, 3)) {
      expect(await rejection(call())).toMatchObject({ ...refused, isRemoving: false });
    }
    expect((await rejection(planMigration(old))).message).toBe(
      "users: the database no longer has the model, because it was dropped, or because the database was emptied; restart the program without the model, or with it to begin with no rows",
    );
    const anew = await createDatabase({ kv, models: { tenants: Tenant, users: User } });
    expect([await anew.users.count(), await anew.tenants.count({})]).toEqual([0, 1]);
    await anew.users.create({ data: user(1) });
    // A program that was started before the drop continues with the new model.
    expect(await old.users.findMany({ where: { tenantId: "t" } })).toMatchObject({
      items: [{ id: "u1" }],
    });
  });
});

describe("a run that is killed after a commit", () => {
  it("is resumed by the next one, and no program writes the model in between", async () => {
    const end = await crashAtEachCommit(async (at) => {
      const own = await openKv();
      try {
        const old = await fill(own, 6);
        const outcome: unknown = await dropUsers(crashingKv(own, at, "after")).catch(
          (error: unknown) => error,
        );
        const { isBreaking, steps } = await planMigration(await openRest(own));
        const write = old.users.create({ data: user(20) });
        // Before the fence the model is unchanged, and after it nobody writes it.
        const [step] = steps;
        if (isCrash(outcome) && step === undefined && (await keysOfUsers(own)).length > 0) {
          await write;
          expect((await dropUsers(own, {})).dropped).toEqual([]);
          expect(await old.users.count()).toBe(8);
          await dropUsers(own);
        } else {
          expect((await rejection(write)).code).toBe("KW_MODEL_DROPPED");
          expect([isBreaking, step?.class ?? "safe"]).toEqual([false, "safe"]);
          const resumed = await dropUsers(own, {});
          expect(resumed.dropped.length).toBe(steps.length);
        }
        expect(await keysOfUsers(own)).toEqual([]);
        expect(
          await (await openRest(own)).tenants.findUnique({ where: { id: "t" } }),
        ).not.toBeNull();
        return isCrash(outcome);
      } finally {
        await own.close();
      }
    });
    expect(end).toBeGreaterThan(10);
  });
});

/** A run reports no crash of its last commit, which only releases its lease. */
const isCrash = (outcome: unknown) => outcome instanceof Crash;

describe("while others write", () => {
  it("writers get an error, and nothing of theirs is left", async () => {
    const old = await fill(kv, 50);
    let written = 0;
    const writers = [1, 2, 3].map(async (writer) => {
      for (let i = 0; ; i++) {
        const data = { ...user(writer * 1000 + i), id: `w${writer}-${i}` };
        await old.users.create({ data });
        written++;
      }
    });
    const refusals = writers.map((writer) => rejection(writer));
    const { status } = await dropUsers(kv);
    expect(status).toBe("done");
    for (const refusal of refusals) {
      expect(await refusal).toMatchObject({ code: "KW_MODEL_DROPPED" });
    }
    expect(written).toBeGreaterThan(0);
    expect(await keysOfUsers(kv)).toEqual([]);
  });

  it("two runs drop the model once", async () => {
    await fill(kv, 50);
    const runs = await Promise.all([dropUsers(kv), dropUsers(kv), dropUsers(kv, {})]);
    expect(runs.map(({ status }) => status)).toEqual(["done", "done", "done"]);
    expect(runs.flatMap(({ dropped }) => dropped)).toMatchObject([{ model: "users" }]);
    expect(await keysOfUsers(kv)).toEqual([]);
  });
});

describe("a model", () => {
  it("to which another model of the database refers is not dropped without it", async () => {
    const models = { tenants: Tenant, users: User, posts: Post };
    const db = await createDatabase({ kv, models });
    await db.tenants.create({ data: { id: "t" } });
    await db.users.create({ data: user(1) });
    await db.posts.create({ data: { id: "p", authorId: "u1" } });
    const before = await keysOf(kv);
    const refused = await dropUsers(kv);
    expect(refused.status).toBe("blocked");
    expect(refused.plan.steps[0]?.blocked).toBe(
      "Rows of posts refer to users by authorId (belongsTo). Drop posts too, or migrate it without this relation first.",
    );
    expect(await keysOf(kv)).toEqual(before);
    const both = await dropUsers(kv, { dropModels: ["users", "posts"] });
    expect(both.dropped.map(({ model }) => model).sort()).toEqual(["posts", "users"]);
    expect((await keysOf(kv)).map(([first]) => first)).not.toContain("posts");
    expect(await keysOfUsers(kv)).toEqual([]);
  });

  it("to which the program's rows referred is dropped in the run that drops the relation", async () => {
    const old = await createDatabase({ kv, models: { tenants: Tenant, users: User, posts: Post } });
    await old.tenants.create({ data: { id: "t" } });
    await old.users.create({ data: user(1) });
    await old.posts.create({ data: { id: "p", authorId: "u1" } });
    const db = await createDatabase({ kv, models: { tenants: Tenant, posts: FreePost } });
    const dropModels = ["users"];
    expect((await migrate(db, { dropModels })).status).toBe("refused");
    const result = await migrate(db, {
      dropModels,
      accept: ["posts.authorId → users: drop-relation"],
    });
    expect(result.status).toBe("done");
    expect(await keysOfUsers(kv)).toEqual([]);
    const orphan = old.posts.create({ data: { id: "q", authorId: "u1" } });
    expect((await rejection(orphan)).code).toBe("KW_MODEL_DROPPED");
    // The entry of the reference would move, which leaves a guard of the row.
    const moved = old.posts.update({ where: { id: "p" }, data: { title: "new" } });
    expect((await rejection(moved)).code).toBe("KW_MODEL_DROPPED");
    expect(await keysOfUsers(kv)).toEqual([]);
    expect(await db.posts.findMany({ where: { authorId: "u1" } })).toMatchObject({
      items: [{ id: "p" }],
    });
  });

  it("that the program has is not dropped, and one that the database does not have is skipped", async () => {
    const db = await fill(kv, 1);
    expect(await rejection(migrate(db, { dropModels: ["users"] }))).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "dropModels",
      message:
        'dropModels is not valid: the program has the model "users"; remove it from models first',
    });
    expect((await dropUsers(kv)).dropped.length).toBe(1);
    expect(await dropUsers(kv)).toMatchObject({ status: "done", dropped: [] });
  });

  it("is dropped only if it is named, not by accepting everything", async () => {
    await fill(kv, 1);
    const before = await keysOf(kv);
    expect((await dropUsers(kv, { accept: true })).plan.databaseOnly.length).toBe(1);
    expect(await keysOf(kv)).toEqual(before);
  });

  it("is not dropped if another model has entries in the same place", async () => {
    await fill(kv, 1);
    const Team = defineModel({
      name: "teams",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
      indexes: { byId: { key: "id", prefix: "users_by_email" } },
    });
    await recordModel(kv, Team);
    const db = await createDatabase({ kv, models: { teams: Team } });
    const { status, plan } = await migrate(db, { dropModels: ["users"] });
    expect(status).toBe("blocked");
    expect(plan.steps.at(-1)?.blocked).toContain(
      'teams also stores entries under "users_by_email"',
    );
  });

  it("that is called like the prefix of another is named by its own prefix", async () => {
    await fill(kv, 1);
    const Renamed = defineModel({ ...User, name: "people", prefix: "users", relations: {} });
    await migrate(await createDatabase({ kv, models: { people: Renamed } }), { accept: true });
    const other = defineModel({
      name: "people",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
    });
    const people = await createDatabase({ kv, models: { people: other } });
    await people.people.create({ data: { id: "1" } });
    const { databaseOnly } = await planMigration(await openRest(kv));
    expect(databaseOnly.map(({ model }) => model).sort()).toEqual(["people", "users"]);
    const { dropped } = await dropUsers(kv, { dropModels: ["people"] });
    expect(dropped).toMatchObject([{ model: "people", prefix: "people" }]);
    expect((await keysOfUsers(kv)).length).toBeGreaterThan(3);
  });
});
