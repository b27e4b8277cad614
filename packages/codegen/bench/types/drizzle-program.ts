import { resultText, rowText } from "./keywright-program.js";
import { eachFile, neighboursOf, type Program, positions, readsParent } from "./program.js";

/** The same models and queries in Drizzle, for SQLite. */
export function drizzleProgram(count: number): Program {
  const names = positions(count);
  return {
    imports: {
      "imports.ts": `import { and, desc, eq, gte, relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { drizzle } from "drizzle-orm/sqlite-proxy";
export { and, desc, drizzle, eq, gte, index, integer, real, relations, sqliteTable, text, uniqueIndex };
`,
    },
    models: eachFile(
      count,
      (i) => `models/model-${i}.ts`,
      (i) => tableText(i, count),
    ),
    database: {
      "database.ts": `import { drizzle } from "drizzle-orm/sqlite-proxy";
${names.map((i) => `import { model${i}, model${i}Relations } from "./models/model-${i}.js";`).join("\n")}

const schema = { ${names.map((i) => `model${i}, model${i}Relations`).join(", ")} };
export function open() {
  return drizzle(async () => ({ rows: [] }), { schema });
}
export type Db = ReturnType<typeof open>;
`,
    },
    queries: eachFile(count, (i) => `queries-${i}.ts`, queriesText),
  };
}

function tableText(i: number, count: number): string {
  const { parent, child } = neighboursOf(i, count);
  return `import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model${parent} } from "./model-${parent}.js";
import { model${child} } from "./model-${child}.js";

export const model${i} = sqliteTable(
  "model${i}",
  {
    id: text("id").primaryKey().$defaultFn(() => "id"),
    email: text("email").notNull(),
    name: text("name").notNull(),
    status: text("status", { enum: ["draft", "open", "closed"] }).notNull(),
    team${i}: text("team").notNull(),
    score${i}: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull().default(true),
    note: text("note"),
    address: text("address", { mode: "json" })
      .$type<{ street: string; city: string; zip?: string | undefined }>()
      .notNull(),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull().default([]),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull().$defaultFn(() => new Date()),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model${i}_by_email").on(table.email),
    index("model${i}_by_team_and_score").on(table.team${i}, table.score${i}),
    index("model${i}_by_parent").on(table.parentId),
  ],
);
export const model${i}Relations = relations(model${i}, ({ one, many }) => ({
  parent: one(model${parent}, { fields: [model${i}.parentId], references: [model${parent}.id] }),
  children: many(model${child}),
}));
`;
}

function queriesText(i: number): string {
  const include = readsParent(i) ? ", with: { parent: true }" : "";
  return `import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./database.js";
import { model${i} } from "./models/model-${i}.js";

export async function queries${i}(db: Db) {
  const one = await db.query.model${i}.findFirst({ where: eq(model${i}.email, "a")${include} });
  const page = await db
    .select()
    .from(model${i})
    .where(and(eq(model${i}.team${i}, "a"), gte(model${i}.score${i}, 1)))
    .orderBy(desc(model${i}.score${i}))
    .limit(10);
  const [made] = await db.insert(model${i}).values(${rowText(i)}).returning();
  const [changed] = await db.update(model${i}).set({ name: "g" }).where(eq(model${i}.id, made!.id)).returning();
${resultText(i, "one?.parent.name", "page").replace("made.", "made!.").replace("changed.", "changed!.")}}
`;
}
