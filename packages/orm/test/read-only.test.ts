import { type EmbeddedKv, type KvEntry, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineModel,
  desc,
  hasMany,
  IndexNotReadyError,
  migrate,
} from "../src/index.js";
import {
  findDanglingReferences,
  migrationStatus,
  planMigration,
  verifyIndexes,
} from "../src/migrate.js";
import { rejection } from "./user-model.js";

const userParts = {
  name: "users",
  schema: z.object({ id: z.string(), email: z.string(), team: z.string(), bio: z.string() }),
  primaryKey: "id",
  count: true,
  indexes: {
    byEmail: { key: "email", unique: true },
    byTeam: { key: "team", count: true },
    search: { text: "bio" },
  },
} as const;
const User = defineModel({ ...userParts, relations: { posts: hasMany("posts", "authorId") } });
const LonelyUser = defineModel(userParts);
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId") },
});
const models = { users: User, posts: Post };
const ada = { id: "ada", email: "ada@example.com", team: "red", bio: "wrote the first program" };
const readOnly = true;

let kv: EmbeddedKv;

beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** All entries, also those of Keywright itself. */
async function entries(): Promise<readonly KvEntry<unknown>[]> {
  const all: KvEntry<unknown>[] = [];
  for await (const entry of kv.list({ prefix: [] })) all.push(entry);
  return all;
}

it("reads models that the database does not have yet, and stores nothing", async () => {
  const db = await createDatabase({ kv, models, readOnly });
  expect(await db.users.count()).toBe(0);
  expect((await db.users.findMany({ where: { team: "red" } })).items).toEqual([]);
  expect((await db.users.search({ query: "program" })).count).toBe(0);
  expect((await planMigration(db)).isEmpty).toBe(true);
  expect((await verifyIndexes(db)).status).toBe("clean");
  expect(await entries()).toEqual([]);
});

it("sees what a program writes that adds the models later", async () => {
  const db = await createDatabase({ kv, models, readOnly });
  const writing = await createDatabase({ kv, models });
  await writing.users.create({ data: ada });
  expect(await db.users.findUnique({ where: { id: "ada" } })).toEqual(ada);
  expect((await db.users.findMany({ where: { team: "red" } })).items).toEqual([ada]);
  expect(await db.users.count()).toBe(1);
});

it("has all calls that read, and none of them stores anything", async () => {
  const writing = await createDatabase({ kv, models: { users: LonelyUser } });
  await writing.users.create({ data: ada });
  await kv.set(["posts", "1"], { id: "1", authorId: "ada" });
  await kv.set(["posts_by_author", "ada", "1"], "1");
  await kv.set(["posts", "2"], { id: "2", authorId: "nobody" });
  const before = await entries();

  const db = await createDatabase({ kv, models, readOnly });
  const where = { email: "ada@example.com" };
  expect(await db.users.findUnique({ where, include: { posts: true } })).toMatchObject({
    posts: [{ id: "1" }],
  });
  expect((await db.posts.findMany({ where: { authorId: "ada" } })).items).toHaveLength(1);
  expect((await db.posts.scan({ take: 10 })).items).toHaveLength(2);
  expect(await db.users.count({ where: { team: "red" } })).toBe(1);
  expect((await db.users.search({ query: "first" })).count).toBe(1);
  expect(await db.users.explain({ where: { team: "red" } })).toMatchObject({ index: "byTeam" });
  expect(await db.snapshot(async (view) => await view.users.count())).toBe(1);
  expect(await db.transaction(async (tx) => (await tx.users.scan({})).items)).toEqual([ada]);
  expect((await migrationStatus(db)).runner).toBe(null);
  expect((await planMigration(db)).steps).toEqual([]);
  expect((await findDanglingReferences(db, { model: "posts" })).items).toHaveLength(1);
  // The entry of the second post is missing.
  expect(await verifyIndexes(db)).toMatchObject({
    status: "damaged",
    models: [{ counts: { missing: 0 } }, { counts: { missing: 1 } }],
  });
  expect(await entries()).toEqual(before);
});

it("refuses all calls that write", async () => {
  await createDatabase({ kv, models });
  const db = await createDatabase({ kv, models, readOnly });
  const before = await entries();
  const refused = [
    () => db.users.create({ data: ada }),
    () => db.users.createMany({ data: [ada], atomic: true }),
    () => db.users.upsert({ where: { id: "ada" }, create: ada, update: { team: "blue" } }),
    () => db.transaction(async (tx) => await tx.users.create({ data: ada })),
    () => verifyIndexes(db, { repair: true }),
    () => migrate(db),
  ];
  for (const call of refused)
    expect(await rejection(call())).toMatchObject({ code: "KW_DATABASE_READ_ONLY" });
  expect(await entries()).toEqual(before);
});

it("finds the new name of a model that only the database has", async () => {
  const named = (name: string) => defineModel({ ...userParts, name, indexes: {} });
  const writing = await createDatabase({ kv, models: { users: named("users") } });
  await writing.users.create({ data: ada });
  const before = await entries();
  const db = await createDatabase({ kv, models: { people: named("people") }, readOnly });
  expect((await planMigration(db)).databaseOnly).toMatchObject([
    { model: "users", renamedTo: "people" },
  ]);
  expect(await entries()).toEqual(before);
});

it("keeps nothing of a verification that is stopped, and leaves what others have kept", async () => {
  const writing = await createDatabase({ kv, models });
  await writing.users.create({ data: ada });
  await writing.posts.create({ data: { id: "1", authorId: "ada" } });
  const stopping = AbortSignal.abort();
  await verifyIndexes(writing, { signal: stopping });
  await kv.delete(["posts_by_author", "ada", "1"]);
  const before = await entries();
  const db = await createDatabase({ kv, models, readOnly });
  expect((await verifyIndexes(db, { signal: stopping })).status).toBe("stopped");
  expect((await verifyIndexes(db)).status).toBe("damaged");
  expect(await entries()).toEqual(before);
});

it("does not verify while a migration runs", async () => {
  await createDatabase({ kv, models });
  await kv.set(["__keywright", "lease"], storedLease());
  const db = await createDatabase({ kv: sharedKv(kv), models, readOnly });
  expect(await verifyIndexes(db, { wait: false })).toEqual({ status: "busy", models: [] });
});

it("does not report what a migration may have caused that began while it verified", async () => {
  const writing = await createDatabase({ kv, models });
  await writing.users.create({ data: ada });
  await writing.posts.create({ data: { id: "1", authorId: "ada" } });
  await kv.delete(["posts_by_author", "ada", "1"]);
  const db = await createDatabase({ kv: sharedKv(kv), models, readOnly });
  let begun: Promise<unknown> | undefined;
  const onProgress = () => {
    begun ??= kv.set(["__keywright", "lease"], storedLease());
  };
  expect(await verifyIndexes(db, { onProgress })).toEqual({ status: "busy", models: [] });
  await begun;
  await kv.delete(["__keywright", "lease"]);
  expect((await verifyIndexes(db)).status).toBe("damaged");
});

/** The lease of a runner in another process. */
function storedLease() {
  return {
    ...{ format: 1, runner: "another", process: "another", host: "there", timeToLive: 60_000 },
    ...{ takenAt: new Date(), expiresAt: new Date(Date.now() + 60_000) },
  };
}

/** The database as it would be if other processes used it too. */
function sharedKv(of: EmbeddedKv): EmbeddedKv {
  return new Proxy(of, {
    get(target, name) {
      if (name === "isShared") return true;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

it("does not read copies that other programs may not have maintained", async () => {
  const issueFields = { id: z.string(), priority: z.int() };
  const Issue = defineModel({ name: "issues", schema: z.object(issueFields), primaryKey: "id" });
  const Link = defineModel({
    name: "links",
    schema: z.object({ id: z.string(), issueId: z.string(), priority: z.int().default(-1) }),
    primaryKey: "id",
    indexes: { byIssue: { key: "issueId" }, byPriority: { key: desc("priority") } },
    relations: { issue: belongsTo("issues", "issueId", { copy: { priority: "priority" } }) },
  });
  const earlier = await createDatabase({ kv, models: { issues: Issue } });
  await earlier.issues.create({ data: { id: "1", priority: 3 } });
  await kv.set(["links", "1"], { id: "1", issueId: "1", priority: -1 });
  const before = await entries();
  const db = await createDatabase({ kv, models: { issues: Issue, links: Link }, readOnly });
  const read = () => db.links.findMany({ orderBy: { priority: "desc" } });
  expect(await rejection(read())).toBeInstanceOf(IndexNotReadyError);
  expect(await entries()).toEqual(before);
});
