
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model55 } from "./model-55.js";
import { model57 } from "./model-57.js";
export const model56 = sqliteTable(
  "model_56",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team56: text("team").notNull(),
    score56: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_56_by_email").on(table.email),
    index("model_56_by_team").on(table.team56, table.score56),
    index("model_56_by_parent").on(table.parentId),
  ],
);
export const model56Relations = relations(model56, ({ one, many }) => ({
  parent: one(model55, {
    fields: [model56.parentId],
    references: [model55.id],
  }),
  children: many(model57),
}));