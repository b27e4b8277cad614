
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model57 } from "./model-57.js";
import { model59 } from "./model-59.js";
export const model58 = sqliteTable(
  "model_58",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team58: text("team").notNull(),
    score58: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_58_by_email").on(table.email),
    index("model_58_by_team").on(table.team58, table.score58),
    index("model_58_by_parent").on(table.parentId),
  ],
);
export const model58Relations = relations(model58, ({ one, many }) => ({
  parent: one(model57, {
    fields: [model58.parentId],
    references: [model57.id],
  }),
  children: many(model59),
}));