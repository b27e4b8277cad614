
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model41 } from "./model-41.js";
import { model43 } from "./model-43.js";
export const model42 = sqliteTable(
  "model_42",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team42: text("team").notNull(),
    score42: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_42_by_email").on(table.email),
    index("model_42_by_team").on(table.team42, table.score42),
    index("model_42_by_parent").on(table.parentId),
  ],
);
export const model42Relations = relations(model42, ({ one, many }) => ({
  parent: one(model41, {
    fields: [model42.parentId],
    references: [model41.id],
  }),
  children: many(model43),
}));