
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model85 } from "./model-85.js";
import { model87 } from "./model-87.js";
export const model86 = sqliteTable(
  "model_86",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team86: text("team").notNull(),
    score86: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_86_by_email").on(table.email),
    index("model_86_by_team").on(table.team86, table.score86),
    index("model_86_by_parent").on(table.parentId),
  ],
);
export const model86Relations = relations(model86, ({ one, many }) => ({
  parent: one(model85, {
    fields: [model86.parentId],
    references: [model85.id],
  }),
  children: many(model87),
}));