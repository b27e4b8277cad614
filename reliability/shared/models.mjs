import { belongsTo, createDatabase, defineMigration, defineModel, migrate } from "@keywright/orm";
import * as z from "zod";

const common = { id: z.string(), email: z.string(), team: z.string() };
const before = z.object({ ...common, points: z.int() });
const after = z.object({ ...common, score: z.int(), isActive: z.boolean() });
const byEmail = { key: "email", unique: true };

const OldUser = defineModel({
  name: "users",
  schema: before,
  primaryKey: "id",
  count: true,
  sum: ["points"],
  indexes: {
    byEmail,
    byTeam: { key: "team", sum: ["points"], max: ["points"] },
    byPoints: { key: "points" },
  },
});
const NewUser = defineModel({
  name: "users",
  schema: after,
  primaryKey: "id",
  count: true,
  sum: ["score"],
  min: ["score"],
  indexes: {
    byEmail,
    byTeam: { key: "team", sum: ["score"], max: ["score"] },
    byScore: { key: "score", count: true },
  },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId", { onDelete: "cascade" }) },
});
const Account = defineModel({
  name: "accounts",
  schema: z.object({ id: z.string(), balance: z.int() }),
  primaryKey: "id",
});
const Transfer = defineModel({
  name: "transfers",
  schema: z.object({ id: z.string(), from: z.string(), to: z.string(), amount: z.int() }),
  primaryKey: "id",
});
const scores = defineMigration({
  model: NewUser,
  from: before,
  to: after,
  up: ({ points, ...row }) => ({ ...row, score: points, isActive: true }),
});

export const accountIds = Array.from({ length: 16 }, (_, i) => `account ${i}`);

/**
 * Opens the models on a database, with the schema of the old program or with that of the new one.
 */
export async function openModels(kv, schema) {
  const others = { posts: Post, accounts: Account, transfers: Transfer };
  return schema === "old"
    ? await createDatabase({ kv, models: { users: OldUser, ...others } })
    : await createDatabase({ kv, models: { users: NewUser, ...others }, migrations: [scores] });
}

/** Migrates to the new schema, also if an index of the old program is dropped. */
export async function migrateModels(db, options) {
  const { status } = await migrate(db, { ...options, accept: true });
  if (status !== "done") throw new Error(`the migration ended with ${status}`);
}

/** Returns the points of a stored user of either schema. */
export function pointsOf({ points, score }) {
  return points ?? score;
}
