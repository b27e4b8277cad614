import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { type Rows, rowsOf } from "../src/codegen.js";
import {
  belongsTo,
  createDatabase,
  type DatabaseCall,
  defineModel,
  hasMany,
} from "../src/index.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), team: z.string() }),
  primaryKey: "id",
  indexes: { byTeam: { key: "team" } },
  relations: { posts: hasMany("posts", "userId") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    userId: z.string(),
    score: z.number(),
    deletedAt: z.date().nullable().default(null),
  }),
  primaryKey: "id",
  softDelete: "deletedAt",
  indexes: {
    byUser: { key: "userId" },
    byScore: { key: "score", ranked: true, count: true },
  },
  relations: { user: belongsTo("users", "userId") },
});

class Repository {
  readonly rows: Rows;

  constructor(rows: Rows) {
    this.rows = rows;
  }
}

let kv: EmbeddedKv;
let calls: DatabaseCall[];
let posts: Rows;

beforeEach(async () => {
  kv = await openKv();
  calls = [];
  const db = await createDatabase({
    kv,
    models: { users: User, posts: Post },
    middleware: (call, next) => {
      calls.push(call);
      return next();
    },
  });
  posts = rowsOf(db, "posts");
  await db.users.createMany({ data: ["a", "b"].map((id) => ({ id, team: id })) });
  const data = ["a1", "a2", "b1"].map((id, score) => ({ id, userId: id[0]!, score }));
  await db.posts.createMany({ data });
  calls.length = 0;
});
afterEach(() => kv.close());

function viewOf(shape: Parameters<Rows["view"]>[1]): Rows {
  return (posts.view(Repository, shape) as Repository).rows;
}

const ofTeamA = { whereRelated: { user: { is: { team: "a" } } } };
const all = { index: "byScore", where: {} };
const one = { where: { id: "b1" } };

it("a view with conditions on related rows applies them to each call that finds rows", async () => {
  const view = viewOf(ofTeamA);
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
  expect(ids((await view.findMany(all)).items)).toEqual(["a1", "a2"]);
  expect(ids((await view.scan({ order: "desc" })).items)).toEqual(["a2", "a1"]);
  expect(ids((await view.findMany({ where: {} })).items)).toEqual(["a1", "a2"]);
  expect((await view.findMany({ ...all, order: "desc" }).first()).id).toBe("a2");
  expect(await view.count()).toBe(2);
  expect(await view.count(all)).toBe(2);
  expect(await view.exists({ index: "byUser", where: { userId: "b" } })).toBe(false);
  const { value } = await view.watchMany(all).getReader().read();
  expect(ids(value as { id: string }[])).toEqual(["a1", "a2"]);
  expect((await view.updateMany({ ...all, data: { score: 9 } })).count).toBe(2);
  expect((await view.deleteMany({ filter: () => true })).count).toBe(2);
  expect(ids((await posts.scan()).items)).toEqual(["b1"]);
});

it.each<[string, (view: Rows) => unknown]>([
  ["findUnique", (view) => view.findUnique(one)],
  ["findUniqueOrThrow", (view) => view.findUniqueOrThrow(one)],
  ["findVersioned", (view) => view.findVersioned(one)],
  ["findEach", (view) => view.findEach(["b1"])],
  ["watch", (view) => view.watch(one)],
  ["rank", (view) => view.rank({ index: "byScore", ...one })],
  ["distinct", (view) => view.distinct({ ...all, field: "score" })],
  ["aggregate", (view) => view.aggregate({ ...all, count: true })],
  ["groupBy", (view) => view.groupBy({ ...all, by: ["score"], count: true })],
  ["create", (view) => view.create({ data: { id: "b2", userId: "b", score: 1 } })],
  ["createMany", (view) => view.createMany({ data: [{ id: "b2", userId: "b", score: 1 }] })],
  ["update", (view) => view.update({ ...one, data: { score: 5 } })],
  ["upsert", (view) => view.upsert({ ...one, create: {}, update: { score: 5 } })],
  ["delete", (view) => view.delete(one)],
  ["restore", (view) => view.restore(one)],
  ["purge", (view) => view.purge({ before: new Date() })],
])("a view with conditions on related rows refuses %s", async (_, call) => {
  const before = await posts.scan();
  const refused = { code: "KW_ARGUMENT_INVALID", argument: "whereRelated" };
  await expect(async () => call(viewOf(ofTeamA))).rejects.toMatchObject(refused);
  expect(await posts.scan()).toEqual(before);
});

it("each call of a view has its shape, also for middleware, and its own options come first", async () => {
  const view = viewOf({ select: { id: true }, withVersionstamp: true });
  const shape = { select: { id: true }, withVersionstamp: true };
  const found = { row: { id: "b1" }, versionstamp: expect.any(String) };
  expect(await view.findUnique(one)).toEqual(found);
  expect((await view.findMany({ where: { id: "b1" } })).items).toEqual([found]);
  for await (const row of view.findMany({ where: { id: "b1" } })) expect(row).toEqual(found);
  expect(await view.findEach(["b1", "c"])).toEqual([found, null]);
  expect(await view.update({ ...one, data: { score: 3 } })).toEqual(found);
  expect((await view.watch(one).getReader().read()).value).toEqual(found);
  expect(calls.map(({ args }) => args)).toEqual(calls.map(() => expect.objectContaining(shape)));
  expect(calls.map(({ operation }) => operation)).toEqual([
    "findUnique",
    "findMany",
    "findMany",
    "findMany",
    "update",
    "watch",
  ]);
  expect(await view.count(all)).toBe(3);
  expect(calls.at(-1)?.args).toEqual(all);
  const whole = await view.findUnique({ ...one, withVersionstamp: false } as never);
  expect(whole).toEqual({ id: "b1" });
});
