// Keywright's ORM on each engine.
import { isBuiltin } from "node:module";
import { openKv } from "@keywright/core";
import { belongsTo, createDatabase, defineModel, hasMany, migrate } from "@keywright/orm";
import * as z from "zod";
import { listedEntries } from "../rows.mjs";
import { keywrightShop, shopModels } from "./keywright-shop.mjs";
import { peer } from "./peer.mjs";

/** If not, the packages in the folder `peers` have one. */
const hasSqlite = isBuiltin("node:sqlite");

const userDefinition = {
  name: "users",
  schema: z.object({
    id: z.ulid(),
    name: z.string(),
    email: z.email(),
    favoriteColor: z.string(),
    age: z.int(),
    createdAt: z.date(),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true },
    byFavoriteColor: { key: "favoriteColor" },
  },
  relations: { posts: hasMany("posts", "authorId") },
};
const User = defineModel(userDefinition);

const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.ulid(), title: z.string() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId") },
});

/** The same users with an index that holds what a list shows, and one with copies of the rows. */
const WideUser = defineModel({
  name: "wide_users",
  schema: userDefinition.schema,
  primaryKey: "id",
  indexes: {
    covering: { key: "favoriteColor", include: ["name", "email"], count: true },
    copies: { key: "favoriteColor", store: "copy" },
  },
});

/** Each commit of an order also updates the count and the sum of its month and customer. */
const Order = defineModel({
  name: "orders",
  schema: z.object({ id: z.string(), customer: z.string(), month: z.string(), cents: z.int() }),
  primaryKey: "id",
  indexes: { byCustomer: { key: ["customer", "month"], count: true, sum: ["cents"] } },
});

export const engines = {
  memory: { title: "memory", durability: "none", open: () => openKv() },
  level: { title: "LevelDB, `full`", durability: "full", open: (path) => openKv(path) },
  "level-relaxed": {
    title: "LevelDB, `relaxed`",
    durability: "relaxed",
    open: (path) => openKv(path, { durability: "relaxed" }),
  },
  lmdb: {
    title: "LMDB",
    durability: "full",
    open: async (path) => {
      // Loaded here, because the start of a program without it is measured.
      const { lmdbEngine } = await import("@keywright/lmdb");
      return await openKv(await lmdbEngine({ path: `${path}.mdb` }));
    },
  },
  sqlite: {
    title: "SQLite, `full`",
    isHeavy: !hasSqlite,
    durability: "full",
    open: (path) => openSqlite(path, "full"),
  },
  "sqlite-relaxed": {
    title: "SQLite, `relaxed`",
    isHeavy: !hasSqlite,
    durability: "relaxed",
    open: (path) => openSqlite(path, "relaxed"),
  },
};

async function openSqlite(path, durability) {
  const { betterSqlite3Driver, sqliteEngine } = await import("@keywright/sqlite");
  const driver = hasSqlite ? undefined : betterSqlite3Driver({ default: peer("better-sqlite3") });
  return await openKv(await sqliteEngine({ path: `${path}.sqlite`, driver }), { durability });
}

export async function openKeywright(openEngine, path) {
  const kv = await openEngine(path);
  const models = { users: User, posts: Post, wide: WideUser, orders: Order, ...shopModels };
  const db = await createDatabase({ kv, models });
  const { users, posts, wide, orders } = db;
  return {
    load: async (userRows, postRows) => {
      await users.createMany({ data: userRows });
      await posts.createMany({ data: postRows });
    },
    loadWide: (rows) => wide.createMany({ data: rows }),
    loadOrders: (rows) => orders.createMany({ data: rows }),
    create: (data) => users.create({ data }),
    createWithPosts: (user, create) => users.create({ data: { ...user, posts: { create } } }),
    createMany: (data) => users.createMany({ data }),
    byId: (id) => users.findUnique({ where: { id } }),
    byEmail: (email) => users.findUnique({ where: { email } }),
    byColor: async (favoriteColor) => (await users.findMany({ where: { favoriteColor } })).items,
    covered: async (favoriteColor) => {
      const select = { id: true, name: true, email: true, favoriteColor: true };
      const query = { where: { favoriteColor }, index: "covering", select };
      return (await wide.findMany(query)).items;
    },
    copied: async (favoriteColor) => {
      const { items } = await wide.findMany({ where: { favoriteColor }, index: "copies" });
      return items;
    },
    firstPage: (take) => users.findMany({ orderBy: { id: "asc" }, take }),
    page: async (take, { cursor }) => {
      return await users.findMany({ orderBy: { id: "asc" }, take, cursor });
    },
    itemsOf: ({ items }) => items,
    changeColor: (id, favoriteColor) => users.update({ where: { id }, data: { favoriteColor } }),
    changeAge: (id, age) => users.update({ where: { id }, data: { age } }),
    upsert: (row) => users.upsert({ where: { id: row.id }, create: row, update: { age: row.age } }),
    remove: (id) => users.delete({ where: { id } }),
    transaction: (id, age, post) =>
      db.transaction(async (tx) => {
        await tx.users.update({ where: { id }, data: { age } });
        await tx.posts.create({ data: post });
      }),
    withPosts: async (from, take) => {
      const query = { where: { id: { gte: from } }, take, include: { posts: true } };
      const { items } = await users.findMany(query);
      return items.map(({ posts: ofUser, ...user }) => ({ ...user, posts: ofUser }));
    },
    entries: async (id) => {
      const found = [];
      const selector = { prefix: ["users"], start: ["users", id] };
      for await (const { value } of kv.list(selector, { limit: listedEntries, batchSize: 500 }))
        found.push(value);
      return found;
    },
    totals: async (customer) => {
      const wanted = { count: true, sum: { cents: true } };
      const groups = await orders.groupBy({ by: ["month"], where: { customer }, ...wanted });
      return groups.map(({ month, count, sum }) => ({ month, count, cents: sum.cents }));
    },
    count: (favoriteColor) => wide.count({ where: { favoriteColor } }),
    ...keywrightShop(db),
    close: () => kv.close(),
  };
}

/** Adds an index to a database that was filled without it. */
export async function backfill(openEngine, path) {
  const kv = await openEngine(path);
  const indexes = { ...userDefinition.indexes, byAge: { key: "age" } };
  const after = defineModel({ ...userDefinition, indexes });
  const db = await createDatabase({ kv, models: { users: after, posts: Post } });
  const start = performance.now();
  const { status } = await migrate(db);
  const seconds = (performance.now() - start) / 1000;
  await kv.close();
  if (status !== "done") throw new Error(`The migration ended with status ${status}.`);
  return seconds;
}
