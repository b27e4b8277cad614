import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { loadConfig } from "../src/project/config/load-config.js";
import { compile } from "./compile.js";
import { config, createProject, type Project } from "./project.js";

const models = `import { belongsTo, defineModel, hasMany } from "@keywright/orm";
import * as z from "zod";

export const User = defineModel({
  name: "users",
  schema: z.object({ tenantId: z.string(), id: z.string(), email: z.string() }),
  primaryKey: ["tenantId", "id"],
  indexes: { byEmail: { key: ["tenantId", "email"], unique: true } },
  relations: { posts: hasMany("posts", ["tenantId", "authorId"]) },
});
export const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), tenantId: z.string(), authorId: z.string(), size: z.int() }),
  primaryKey: "id",
  indexes: {
    byAuthor: { key: ["tenantId", "authorId"], count: true, sum: ["size"] },
    search: { text: "id", key: "tenantId" },
  },
  relations: { author: belongsTo("users", ["tenantId", "authorId"], { onDelete: "cascade" }) },
});
export const Country = defineModel({
  name: "countries",
  schema: z.object({ code: z.string() }),
  primaryKey: "code",
});
`;

const usage = `import { openKv } from "@keywright/core";
import { openRepositories, scopedRepositories } from "./db/index.js";
import type { UserRow } from "./db/users.js";
const { database } = await openRepositories(await openKv());
const scope = database.scope({ tenantId: "acme" });
const { users } = scopedRepositories(scope);
export const found: Promise<UserRow | null> = users.findByEmail("acme", "ada@example.com");
// @ts-expect-error: the model lacks the field of the scope.
void scopedRepositories(scope).countries;
void scope.transaction((tx) => scopedRepositories(tx).posts.delete("p"));
void database.transaction(async (tx) => {
  await scopedRepositories(tx.scope({ tenantId: "acme" })).posts.delete("p");
});
`;

// biome-ignore lint/suspicious/noExplicitAny: the module is made by the test; its types are compiled in "usage.ts".
type Opened = any;

let project: Project;
let generated: Opened;
let openKv: () => Promise<Opened>;
let db: Opened;

beforeAll(async () => {
  project = await createProject({
    "keywright.config.ts": config,
    "models/all.ts": models,
    "usage.ts": usage,
    "open-kv.ts": 'export { openKv } from "@keywright/core";\n',
  });
  expect((await project.run(["generate"])).exitCode).toBe(0);
  const { loadModule } = await loadConfig(project.folder);
  generated = await loadModule(project.path("db/index.ts"));
  // The project's own: the test has another copy of the package.
  ({ openKv } = (await loadModule(project.path("open-kv.ts"))) as Opened);
});

afterAll(async () => await project.remove());

beforeEach(async () => {
  db = await generated.openRepositories(await openKv());
  for (const tenantId of ["acme", "other"]) {
    await db.users.create({ tenantId, id: "ada", email: "ada@example.com" });
    await db.posts.create({ id: `${tenantId}-1`, tenantId, authorId: "ada", size: 3 });
  }
  await db.countries.create({ code: "no" });
});

it("have types for the models of the scope only", () => {
  expect(compile([project.path("usage.ts")])).toEqual([]);
});

it("read only rows of the scope", async () => {
  const { users, posts } = generated.scopedRepositories(db.database.scope({ tenantId: "acme" }));
  expect(await posts.findById("acme-1")).toMatchObject({ size: 3 });
  expect(await posts.findById("other-1")).toBeNull();
  expect(await posts.findEachById(["acme-1", "other-1"])).toMatchObject([{ size: 3 }, null]);
  expect(await posts.countByAuthor({ tenantId: "acme" })).toBe(1);
  expect(await posts.aggregateByAuthor({ tenantId: "acme" })).toMatchObject({ sum: { size: 3 } });
  const { items } = await users.listByTenantIdAndId({ tenantId: "acme" });
  expect(items).toMatchObject([{ tenantId: "acme", id: "ada" }]);
  expect((await users.listPosts(items[0])).items).toMatchObject([{ id: "acme-1" }]);
  const loaded = await posts.include({ author: true }).findById("acme-1");
  expect(loaded.author).toMatchObject({ tenantId: "acme" });
});

it("search, watch a search and explain it within the scope", async () => {
  const { posts } = generated.scopedRepositories(db.database.scope({ tenantId: "acme" }));
  const page = await posts.search("1", "acme");
  expect(page).toMatchObject({ items: [{ row: { id: "acme-1" } }], count: 1 });
  const pages = posts.watchSearch("1", "acme", { take: 1 }).getReader();
  expect((await pages.read()).value).toEqual(page);
  await db.posts.create({ id: "other-1-1", tenantId: "other", authorId: "ada", size: 1 });
  await db.posts.create({ id: "acme-1-1", tenantId: "acme", authorId: "ada", size: 1 });
  expect((await pages.read()).value).toMatchObject({ count: 2, cursor: expect.any(String) });
  await pages.cancel();
  expect(await posts.explainSearch("1", "acme")).toMatchObject({ index: "search", fresh: 2 });
});

it.each<[string, (db: Opened) => Promise<unknown>]>([
  ["a search", ({ posts }) => posts.search("1", "other")],
  ["a live search", async ({ posts }) => posts.watchSearch("1", "other").getReader().read()],
  ["an explained search", ({ posts }) => posts.explainSearch("1", "other")],
  ["a unique key", ({ users }) => users.findByEmail("other", "ada@example.com")],
  ["a list", ({ posts }) => posts.listByAuthor({ tenantId: "other" })],
  ["a list of keys", ({ users }) => users.findEachByTenantIdAndId([["other", "ada"]])],
  ["a count", ({ posts }) => posts.countByAuthor({ tenantId: "other" })],
  ["a live query", async ({ users }) => users.watchByEmail("other", "x").getReader().read()],
  [
    "a new row",
    ({ posts }) => posts.create({ id: "x", tenantId: "other", authorId: "ada", size: 1 }),
  ],
  ["a changed row", ({ posts }) => posts.update("acme-1", { tenantId: "other" })],
  ["a deletion of many", ({ posts }) => posts.deleteManyByAuthor({ tenantId: "other" })],
  ["related rows", ({ users }) => users.listPosts({ tenantId: "other", id: "ada" })],
])("refuse another value in %s", async (_, call) => {
  const within = generated.scopedRepositories(db.database.scope({ tenantId: "acme" }));
  await expect(call(within)).rejects.toMatchObject({ code: "KW_SCOPE" });
  expect(await db.posts.findById("other-1")).toMatchObject({ size: 3 });
});

it("do not change rows outside of the scope", async () => {
  const { posts } = generated.scopedRepositories(db.database.scope({ tenantId: "acme" }));
  await expect(posts.update("other-1", { size: 4 })).rejects.toMatchObject({
    code: "KW_ROW_NOT_FOUND",
  });
  await posts.deleteManyByAuthor({ tenantId: "acme", authorId: "ada" });
  expect(await db.posts.findById("acme-1")).toBeNull();
  expect(await db.posts.findById("other-1")).toMatchObject({ size: 3 });
});

it("work within transactions", async () => {
  await db.database.scope({ tenantId: "acme" }).transaction(async (tx: Opened) => {
    const within = generated.scopedRepositories(tx);
    expect(Object.keys(within).sort()).toEqual(["posts", "users"]);
    expect(await within.posts.findById("other-1")).toBeNull();
    await within.posts.update("acme-1", { size: 4 });
  });
  await db.transaction(async (tx: Opened) => {
    const { posts } = generated.scopedRepositories(tx.database.scope({ tenantId: "acme" }));
    expect(await posts.findById("acme-1")).toMatchObject({ size: 4 });
    expect(await posts.findById("other-1")).toBeNull();
  });
});

it("are not made for models outside of the scope", async () => {
  const scope = db.database.scope({ tenantId: "acme" });
  expect(generated.scopedRepositories(scope)).not.toHaveProperty("countries");
  expect(() => generated.repositoriesOf(scope)).toThrow(/countries is outside of the scope/);
});
