/** A program as text: its files by their names. */
export type Program = Readonly<Record<string, string>>;

/** Numbers from 0 up to `count`. */
function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

/**
 * A Keywright program of `count` models in files of their own: each has nine fields, three indexes,
 * a relation to the model before it and one to those of the model behind, and four queries.
 */
export function keywrightProgram(count: number, orm: string): Program {
  const model = (i: number) => `
import { belongsTo, defineModel, hasMany } from ${JSON.stringify(orm)};
import * as z from "zod";
export const Model${i} = defineModel({
  name: "model_${i}",
  schema: z.object({
    id: z.string(),
    email: z.email(),
    name: z.string(),
    team${i}: z.string(),
    score${i}: z.number(),
    active: z.boolean(),
    note: z.string().nullable(),
    createdAt: z.date(),
    parentId: z.string(),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
    byTeam: { key: ["team${i}", "score${i}"] },
    byParent: { key: "parentId" },
  },
  relations: {
    parent: belongsTo("model_${(i + count - 1) % count}", "parentId"),
    children: hasMany("model_${(i + 1) % count}", "parentId"),
  },
});`;
  const queries = (i: number) => `
import type { Db } from "./db.js";
export async function queries${i}(db: Db) {
  const one = await db.m${i}.findUnique({ where: { email: "a" }, include: { parent: true } });
  const page = await db.m${i}.findMany({ where: { team${i}: "a", score${i}: { gte: 1 } }, take: 10 });
  const some = await db.m${i}.findFirst({
    where: { team${i}: "a" },
    orderBy: { score${i}: "desc" },
    select: { id: true, score${i}: true },
    include: { children: true },
  });
  await db.m${i}.update({ where: { id: "a" }, data: { name: "b" } });
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page.items[0]?.email, some?.score${i}, some?.children[0]?.note ?? "",
  ];
  return values;
}`;
  const database = `
import type { Kv } from "@keywright/core";
import { createDatabase } from ${JSON.stringify(orm)};
${range(count)
  .map((i) => `import { Model${i} } from "./model-${i}.js";`)
  .join("\n")}
const models = { ${range(count)
    .map((i) => `m${i}: Model${i}`)
    .join(", ")} };
export async function open(kv: Kv) {
  return await createDatabase({ kv, models });
}
export type Db = Awaited<ReturnType<typeof open>>;`;
  return program(count, model, queries, database);
}

/**
 * The same in Drizzle, for SQLite: what its relational queries and its builders of queries are used
 * for there.
 */
export function drizzleProgram(count: number): Program {
  const model = (i: number) => `
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model${(i + count - 1) % count} } from "./model-${(i + count - 1) % count}.js";
import { model${(i + 1) % count} } from "./model-${(i + 1) % count}.js";
export const model${i} = sqliteTable(
  "model_${i}",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team${i}: text("team").notNull(),
    score${i}: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_${i}_by_email").on(table.email),
    index("model_${i}_by_team").on(table.team${i}, table.score${i}),
    index("model_${i}_by_parent").on(table.parentId),
  ],
);
export const model${i}Relations = relations(model${i}, ({ one, many }) => ({
  parent: one(model${(i + count - 1) % count}, {
    fields: [model${i}.parentId],
    references: [model${(i + count - 1) % count}.id],
  }),
  children: many(model${(i + 1) % count}),
}));`;
  const queries = (i: number) => `
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model${i} } from "./model-${i}.js";
export async function queries${i}(db: Db) {
  const one = await db.query.model${i}.findFirst({ where: eq(model${i}.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model${i})
    .where(and(eq(model${i}.team${i}, "a"), gte(model${i}.score${i}, 1)))
    .orderBy(model${i}.score${i})
    .limit(10);
  const some = await db.query.model${i}.findFirst({
    where: eq(model${i}.team${i}, "a"),
    orderBy: desc(model${i}.score${i}),
    columns: { id: true, score${i}: true },
    with: { children: true },
  });
  await db.update(model${i}).set({ name: "b" }).where(eq(model${i}.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score${i}, some?.children[0]?.note ?? "",
  ];
  return values;
}`;
  const database = `
import { drizzle } from "drizzle-orm/sqlite-proxy";
${range(count)
  .map((i) => `import { model${i}, model${i}Relations } from "./model-${i}.js";`)
  .join("\n")}
const schema = { ${range(count)
    .map((i) => `model${i}, model${i}Relations`)
    .join(", ")} };
export function open() {
  return drizzle(async () => ({ rows: [] }), { schema });
}
export type Db = ReturnType<typeof open>;`;
  return program(count, model, queries, database);
}

function program(
  count: number,
  model: (i: number) => string,
  queries: (i: number) => string,
  database: string,
): Program {
  const files: Record<string, string> = { "db.ts": database };
  for (const i of range(count)) {
    files[`model-${i}.ts`] = model(i);
    files[`queries-${i}.ts`] = queries(i);
  }
  return files;
}
