import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { createDatabase, defineModel, type RowDelivery } from "../src/index.js";
import { denoKv } from "./faulty-kv.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), tenant: z.string(), name: z.string() }),
  primaryKey: "id",
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), text: z.string() }),
  primaryKey: "id",
});
const Word = defineModel({
  name: "words",
  schema: z.object({ word: z.string(), count: z.int() }),
  primaryKey: "word",
});
const models = { people: User, posts: Post, words: Word };

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv(":memory:", { log: { keep: "7 days" } });
});
afterEach(() => kv.close());

const openModels = () => createDatabase({ kv, models });
type Db = Awaited<ReturnType<typeof openModels>>;
const ada = { id: "1", tenant: "a", name: "Ada" };

/** Consumes until a number of deliveries. */
async function deliveries(
  db: Pick<Db, "consume">,
  count: number,
  options: Parameters<Db["consume"]>[2] = {},
  handler: (delivery: RowDelivery<typeof models>) => unknown = () => undefined,
): Promise<RowDelivery<typeof models>[]> {
  const stopping = new AbortController();
  const seen: RowDelivery<typeof models>[] = [];
  await db.consume(
    "test",
    async (delivery) => {
      seen.push(delivery);
      if (seen.length === count) stopping.abort();
      await handler(delivery);
    },
    { retryDelay: () => 1, onError: () => undefined, ...options, signal: stopping.signal },
  );
  return seen;
}

it("gets the rows of all models with the names of the program, in the order of commits", async () => {
  const db = await openModels();
  await db.withContext("said").people.create({ data: ada });
  await kv.set(["other"], 1);
  await db.transaction(async (tx) => {
    await tx.people.update({ where: { id: "1" }, data: { name: "Ada L." } });
    await tx.posts.create({ data: { id: "p", text: "Hi" } });
  });
  await db.people.delete({ where: { id: "1" } });
  const commits = (await deliveries(db, 3)).map(({ commit }) => commit);
  const renamed = { ...ada, name: "Ada L." };
  expect(commits.map(({ changes }) => changes)).toEqual([
    [{ model: "people", type: "create", key: { id: "1" }, before: null, after: ada }],
    [
      { model: "people", type: "update", key: { id: "1" }, before: ada, after: renamed },
      expect.objectContaining({ model: "posts", after: { id: "p", text: "Hi" } }),
    ],
    [expect.objectContaining({ model: "people", type: "delete", before: renamed, after: null })],
  ]);
  expect(commits[0]!.context).toBe("said");
  await db.posts.delete({ where: { id: "p" } });
  const [next] = await deliveries(db, 1);
  expect(next!.commit.changes).toMatchObject([{ model: "posts", type: "delete" }]);
});

it("writes exactly once what its transactions write, whatever fails afterwards", async () => {
  const db = await openModels();
  for (let n = 0; n < 5; n++) await db.posts.create({ data: { id: `${n}`, text: "a b a" } });
  const count = async ({ commit, transaction, attempt }: RowDelivery<typeof models>) => {
    await transaction(async (tx) => {
      for (const change of commit.changes) {
        if (change.model !== "posts") throw new Error(`a change of ${change.model}`);
        for (const word of change.after!.text.split(" ")) {
          const found = await tx.words.findUnique({ where: { word } });
          const data = { word, count: (found?.count ?? 0) + 1 };
          await tx.words.upsert({ where: { word }, create: data, update: data });
        }
      }
    });
    await expect(
      transaction((tx) => tx.words.delete({ where: { word: "a" } })),
    ).rejects.toMatchObject({ code: "KW_CONSUMER_LOST", reason: "advanced" });
    if (attempt === 1) throw new Error("after the commit");
  };
  const said = db.withContext({ by: "counter" });
  await deliveries(said, 5, {}, count);
  const rows: unknown[] = [];
  for await (const row of db.words.scan()) rows.push(row);
  expect(rows).toEqual([
    { word: "a", count: 10 },
    { word: "b", count: 5 },
  ]);
  const { items } = await db.words.history({ where: { word: "a" } });
  expect(items.map(({ context }) => context)).toEqual(Array(5).fill({ by: "counter" }));
});

it("gets the rows of some models, or of a scope", async () => {
  const db = await openModels();
  await db.posts.create({ data: { id: "p", text: "Hi" } });
  await db.people.create({ data: ada });
  await db.people.create({ data: { ...ada, id: "2", tenant: "b" } });
  const some = await deliveries(db, 1, { models: ["people"] });
  expect(some[0]!.commit.changes).toMatchObject([{ model: "people", key: { id: "1" } }]);
  await kv.removeConsumer("test");
  const stopping = new AbortController();
  const keys: unknown[] = [];
  await db.scope({ tenant: "b" }).consume(
    "scoped",
    ({ commit }) => {
      for (const change of commit.changes) {
        expectTypeOf(change.model).toEqualTypeOf<"people">();
        keys.push(change.key);
      }
      stopping.abort();
    },
    { signal: stopping.signal },
  );
  expect(keys).toEqual([{ id: "2" }]);
});

it("has types by the models", async () => {
  const db = await openModels();
  const consuming = db.consume(
    "typed",
    ({ commit }) => {
      for (const change of commit.changes) {
        expectTypeOf(change.model).toEqualTypeOf<"people" | "posts">();
        if (change.model === "posts") expectTypeOf(change.after!.text).toEqualTypeOf<string>();
      }
    },
    { models: ["people", "posts"], signal: AbortSignal.abort() },
  );
  await consuming;
});

it("refuses a model that it does not have, and a database without a log", async () => {
  const db = await openModels();
  const handler = () => undefined;
  await expect(db.consume("a", handler, { models: ["users" as "people"] })).rejects.toMatchObject({
    code: "KW_ARGUMENT_INVALID",
  });
  await expect(db.consume("a", handler, { models: [] })).rejects.toMatchObject({
    code: "KW_ARGUMENT_INVALID",
  });
  await expect(db.consume("a", "no" as never)).rejects.toMatchObject({
    code: "KW_ARGUMENT_INVALID",
  });
  const deno = await createDatabase({ kv: denoKv(kv), models });
  await expect(deno.consume("a", handler)).rejects.toMatchObject({ code: "KW_LOG_UNAVAILABLE" });
});
