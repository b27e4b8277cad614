
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model22 } from "./model-22.js";
import { model24 } from "./model-24.js";
export const model23 = sqliteTable(
  "model_23",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team23: text("team").notNull(),
    score23: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_23_by_email").on(table.email),
    index("model_23_by_team").on(table.team23, table.score23),
    index("model_23_by_parent").on(table.parentId),
  ],
);
export const model23Relations = relations(model23, ({ one, many }) => ({
  parent: one(model22, {
    fields: [model23.parentId],
    references: [model22.id],
  }),
  children: many(model24),
}));