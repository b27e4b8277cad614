
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model13 } from "./model-13.js";
import { model15 } from "./model-15.js";
export const model14 = sqliteTable(
  "model_14",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team14: text("team").notNull(),
    score14: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_14_by_email").on(table.email),
    index("model_14_by_team").on(table.team14, table.score14),
    index("model_14_by_parent").on(table.parentId),
  ],
);
export const model14Relations = relations(model14, ({ one, many }) => ({
  parent: one(model13, {
    fields: [model14.parentId],
    references: [model13.id],
  }),
  children: many(model15),
}));