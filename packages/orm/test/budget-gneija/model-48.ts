
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model47 } from "./model-47.js";
import { model49 } from "./model-49.js";
export const model48 = sqliteTable(
  "model_48",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team48: text("team").notNull(),
    score48: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_48_by_email").on(table.email),
    index("model_48_by_team").on(table.team48, table.score48),
    index("model_48_by_parent").on(table.parentId),
  ],
);
export const model48Relations = relations(model48, ({ one, many }) => ({
  parent: one(model47, {
    fields: [model48.parentId],
    references: [model47.id],
  }),
  children: many(model49),
}));