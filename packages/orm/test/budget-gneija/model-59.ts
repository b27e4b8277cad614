
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model58 } from "./model-58.js";
import { model60 } from "./model-60.js";
export const model59 = sqliteTable(
  "model_59",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team59: text("team").notNull(),
    score59: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_59_by_email").on(table.email),
    index("model_59_by_team").on(table.team59, table.score59),
    index("model_59_by_parent").on(table.parentId),
  ],
);
export const model59Relations = relations(model59, ({ one, many }) => ({
  parent: one(model58, {
    fields: [model59.parentId],
    references: [model58.id],
  }),
  children: many(model60),
}));