
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model68 } from "./model-68.js";
import { model70 } from "./model-70.js";
export const model69 = sqliteTable(
  "model_69",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team69: text("team").notNull(),
    score69: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_69_by_email").on(table.email),
    index("model_69_by_team").on(table.team69, table.score69),
    index("model_69_by_parent").on(table.parentId),
  ],
);
export const model69Relations = relations(model69, ({ one, many }) => ({
  parent: one(model68, {
    fields: [model69.parentId],
    references: [model68.id],
  }),
  children: many(model70),
}));