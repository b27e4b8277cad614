import { mkdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { EmbeddedKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { indexFile } from "../src/generate/index-file.js";
import { modelFile } from "../src/generate/model-file.js";
import { type LoadedConfig, loadConfig } from "../src/project/config/load-config.js";
import { generatedText } from "../src/project/files/generated-text.js";
import { findModels } from "../src/project/models/find-models.js";
import { nameModels } from "../src/project/models/model-names.js";
import { compile } from "./compile.js";
import { config, createProject, type Project } from "./project.js";

const models = `import { belongsTo, defineModel, desc, hasMany, hasOne, manyToMany } from "@keywright/orm";
import * as z from "zod";

export const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), name: z.string(), chiefId: z.string().optional() }),
  primaryKey: "id",
  indexes: { byChief: { key: "chiefId" } },
  relations: {
    posts: hasMany("posts", "authorId"),
    profile: hasOne("profiles", "userId"),
    chief: belongsTo("users", "chiefId", { onDelete: "setNull" }),
  },
});
export const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string(), score: z.number(), labels: z.array(z.string()) }),
  primaryKey: "id",
  count: true,
  indexes: {
    byAuthor: { key: "authorId", count: true },
    byScore: { key: [desc("score"), "authorId"], count: true },
    byLabel: { key: "labels", each: true },
    byGood: { key: "authorId", where: (post) => post.score > 5 },
  },
  relations: {
    author: belongsTo("users", "authorId", { onDelete: "cascade" }),
    tags: manyToMany("tags", { through: "post_tags", from: "postId", to: "tagId" }),
  },
});
export const Profile = defineModel({
  name: "profiles",
  schema: z.object({ id: z.string(), userId: z.string() }),
  primaryKey: "id",
  indexes: { byUser: { key: "userId", unique: true } },
});
export const Tag = defineModel({ name: "tags", schema: z.object({ id: z.string() }), primaryKey: "id" });
export const PostTag = defineModel({
  name: "post_tags",
  schema: z.object({ postId: z.string(), tagId: z.string() }),
  primaryKey: ["postId", "tagId"],
});
`;

/** Compiles where each method has the types that it should have, and only there. */
const usage = `import { openKv } from "@keywright/core";
import { openRepositories } from "./db/index.js";
import type { PostRow } from "./db/posts.js";
import type { ProfileRow } from "./db/profiles.js";
import type { TagRow } from "./db/tags.js";
import type { UserRow } from "./db/users.js";
type Is<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const { users, posts } = await openRepositories(await openKv());
const user = { id: "ada", name: "Ada" };
const post = { id: "p", authorId: "ada", score: 1, labels: [] };
const author = await posts.loadAuthor(post);
const authors = await posts.loadAuthorOfEach([post]);
const page = await users.listPosts(user, { take: 1 });
const profile = await users.loadProfile(user);
const tags = await posts.loadTagsOfEach([post], { take: 1 });
export const all: [
  Is<typeof author, UserRow | null>,
  Is<typeof authors, (UserRow | null)[]>,
  Is<typeof page.items, PostRow[]>,
  Is<typeof profile, ProfileRow | null>,
  Is<typeof tags, TagRow[][]>,
] = [true, true, true, true, true];
void posts.create(post, { expireIn: 5 });
// @ts-expect-error: the conditions of several fields are an object, as those of a list are.
void posts.countByScore("ada", 9);
`;

interface Row {
  readonly id: string;
}
// biome-ignore lint/suspicious/noExplicitAny: the module is made by the test; its types are compiled in "usage.ts".
type Opened = any;

let project: Project;
let loaded: LoadedConfig;
let kv: EmbeddedKv;
let db: Opened;

beforeAll(async () => {
  project = await createProject({
    "keywright.config.ts": config,
    "models/all.ts": models,
    "usage.ts": usage,
    "open-kv.ts": 'export { openKv } from "@keywright/core";\n',
  });
  loaded = await loadConfig(project.folder, undefined);
  const named = nameModels(await findModels(loaded));
  const types = new Map<unknown, readonly string[]>();
  await mkdir(project.path("db"));
  for (const model of named) {
    const file = modelFile(model, project.path("db"), named);
    types.set(model, file.types);
    await project.write({ [`db/${model.names.file}.ts`]: await generatedText("x", file.body) });
  }
  const index = indexFile(named, project.path("db"), (model) => types.get(model) ?? []);
  await project.write({ "db/index.ts": await generatedText("x", index) });
});
afterAll(() => project.remove());

beforeEach(async () => {
  // The project's own: the test has another copy of the package.
  const { openKv } = await loaded.loadModule(project.path("open-kv.ts"));
  kv = await (openKv as () => Promise<EmbeddedKv>)();
  const { openRepositories } = await loaded.loadModule(project.path("db/index.ts"));
  db = await (openRepositories as (kv: EmbeddedKv) => Promise<Opened>)(kv);
  await db.users.create({ id: "ada", name: "Ada" });
  await db.users.create({ id: "bob", name: "Bob", chiefId: "ada" });
  await db.profiles.create({ id: "pa", userId: "ada" });
  await db.tags.createMany([{ id: "math" }, { id: "music" }]);
  for (const [id, authorId, score] of [
    ["p1", "ada", 1],
    ["p2", "ada", 9],
    ["p3", "bob", 5],
  ] as const) {
    await db.posts.create({ id, authorId, score, labels: [id, "all"] });
  }
  await db.postTags.createMany([
    { postId: "p1", tagId: "math" },
    { postId: "p1", tagId: "music" },
  ]);
});
afterEach(() => kv.close());

const ids = (rows: readonly (Row | null)[]) => rows.map((row) => row?.id);

it("has types that are exact", () => {
  expect(compile([project.path("usage.ts"), project.path("db/index.ts")])).toEqual([]);
});

describe("relations", () => {
  it("lead from one row, and from several at once", async () => {
    const [ada, bob] = (await db.users.scan()).items;
    const posts = (await db.posts.scan()).items;
    expect(await db.posts.loadAuthor(posts[2])).toEqual(bob);
    expect(await db.posts.loadAuthorOfEach(posts)).toEqual([ada, ada, bob]);
    expect(await db.users.loadChief(ada)).toBeNull();
    expect(await db.users.loadChief(bob)).toEqual(ada);
    expect(ids(await db.users.loadProfileOfEach([ada, bob]))).toEqual(["pa", undefined]);
    expect((await db.users.listPostsOfEach([ada, bob], { take: 1 })).map(ids)).toEqual([
      ["p1"],
      ["p3"],
    ]);
    expect(ids(await db.posts.loadTags(posts[0]))).toEqual(["math", "music"]);
    expect((await db.posts.loadTagsOfEach(posts, { take: 1 })).map(ids)).toEqual([
      ["math"],
      [],
      [],
    ]);
    await db.users.delete("bob");
    // The row in hand is older than that.
    expect(await db.posts.loadAuthor(posts[2])).toBeNull();
  });

  it("are listed in pages, both ways, and one by one", async () => {
    const ada = await db.users.findById("ada");
    const first = await db.users.listPosts(ada, { take: 1, order: "desc" });
    expect(ids(first.items)).toEqual(["p2"]);
    const { cursor } = first;
    const second = await db.users.listPosts(ada, { take: 1, order: "desc", cursor });
    expect(ids(second.items)).toEqual(["p1"]);
    const streamed: Row[] = [];
    for await (const post of db.users.listPosts(ada)) streamed.push(post);
    expect(ids(streamed)).toEqual(["p1", "p2"]);
  });
});

describe("the comment of a method", () => {
  /** The comment right above a method, on one line. */
  async function commentOf(file: string, method: string): Promise<string> {
    const text = await project.read(`db/${file}.ts`);
    const before = text.slice(0, text.indexOf(`  ${method}(`));
    return before.slice(before.lastIndexOf("/**")).replaceAll(/\s+\*?\s*/g, " ");
  }

  it("says what a delete does with the rows that refer to the one that goes", async () => {
    const [cascading, forbidden] = [
      "are deleted or cleared of the reference",
      "{RowReferencedError}",
    ];
    expect(await commentOf("users", "delete")).toContain(cascading);
    expect(await commentOf("users", "delete")).toContain(forbidden);
    expect(await commentOf("posts", "delete")).toContain("One read and one commit");
    expect(await commentOf("posts", "delete")).not.toContain(forbidden);
  });

  it("says what it throws", async () => {
    const createMany = await commentOf("profiles", "createMany");
    expect(createMany).toContain("{UniqueConstraintError} if `atomic` is true and");
    expect(createMany).toContain("{RowInvalidError} if `atomic` is true and");
    const listed = await commentOf("posts", "listByScore");
    expect(listed).toContain("{ReadLimitError}");
    expect(await commentOf("posts", "scan")).toContain("{ReadLimitError}");
    expect(await commentOf("posts", "watchByScore")).toContain("{IndexNotReadyError} in the");
    expect(await commentOf("profiles", "watchByUser")).toContain("{IndexNotReadyError} in the");
    expect(await commentOf("profiles", "upsertByUser")).toContain("{InvalidArgumentError}");
    expect(await commentOf("users", "listPosts")).toContain("{IndexNotReadyError}");
  });
});

describe("indexes", () => {
  it("are listed: descending, by elements, partial ones; and counted", async () => {
    expect(ids((await db.posts.listByScore({})).items)).toEqual(["p2", "p3", "p1"]);
    const good = await db.posts.listByScore({ score: { gte: 5 } }, { order: "desc" });
    expect(ids(good.items)).toEqual(["p3", "p2"]);
    expect(ids((await db.posts.listByScore({ score: 9, authorId: "ada" })).items)).toEqual(["p2"]);
    expect(ids((await db.posts.listByLabel("p3")).items)).toEqual(["p3"]);
    expect(ids((await db.posts.listByGood("ada")).items)).toEqual(["p2"]);
  });

  it("are counted by the conditions of their lists, also in a transaction", async () => {
    const counts = async ({ posts }: Opened) => [
      await posts.count(),
      await posts.countByAuthor("ada"),
      await posts.countByAuthor({ in: ["ada", "bob"] }),
      await posts.countByAuthor({ gt: "ada" }),
      await posts.countByScore({ score: 9, authorId: "ada" }),
      await posts.countByScore({ score: { in: [5, 9] }, authorId: "bob" }),
      await posts.countByScore({ score: { gte: 5 } }),
      await posts.countByScore({}),
    ];
    const expected = [3, 2, 3, 1, 1, 1, 2, 3];
    expect(await counts(db)).toEqual(expected);
    expect(await db.transaction(counts)).toEqual(expected);
    const soon = { id: "soon", authorId: "bob", score: 1, labels: [] };
    await db.posts.create(soon, { expireIn: 60_000 });
    expect(await db.posts.countByAuthor("bob")).toBe(2);
    await db.posts.delete("soon");
    const unset = { authorId: "ada", score: undefined };
    await expect(db.posts.countByScore(unset)).rejects.toMatchObject({ code: "KW_QUERY_INVALID" });
  });

  it("count rows until they expire", async () => {
    const post = { authorId: "ada", score: 2, labels: [] };
    await db.posts.create({ id: "p4", ...post }, { expireIn: 400 });
    expect(await db.posts.countByAuthor("ada")).toBe(3);
    await sleep(450);
    expect(await db.posts.countByAuthor("ada")).toBe(2);
  });

  it("are watched: by bounds, by elements, in both orders", async () => {
    const streams = [
      db.posts.watchByScore({}, { order: "desc" }),
      db.posts.watchByScore({ score: { gte: 5 } }),
      db.posts.watchByLabel("p1"),
      db.posts.watchByGood({}),
    ];
    const readers = streams.map((stream) => stream.getReader());
    const next = () => Promise.all(readers.map(async (reader) => ids((await reader.read()).value)));
    expect(await next()).toEqual([["p1", "p3", "p2"], ["p2", "p3"], ["p1"], ["p2"]]);
    await db.posts.create({ id: "p4", authorId: "bob", score: 7, labels: ["p1"] });
    expect(await next()).toEqual([
      ["p1", "p3", "p4", "p2"],
      ["p2", "p4", "p3"],
      ["p1", "p4"],
      ["p2", "p4"],
    ]);
    await Promise.all(readers.map((reader) => reader.cancel()));
  });
});

describe("a transaction", () => {
  it("has the repositories, and writes all or nothing", async () => {
    const failed = db.transaction(async (tx: Opened) => {
      await tx.posts.update("p1", { score: { increment: 5 } });
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    await db.transaction((tx: Opened) => tx.posts.update("p2", { labels: { push: "new" } }));
    expect(await db.posts.findById("p1")).toMatchObject({ score: 1 });
    expect(await db.posts.findById("p2")).toMatchObject({ labels: ["p2", "all", "new"] });
  });
});
