
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model83 } from "./model-83.js";
import { model85 } from "./model-85.js";
export const model84 = sqliteTable(
  "model_84",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team84: text("team").notNull(),
    score84: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_84_by_email").on(table.email),
    index("model_84_by_team").on(table.team84, table.score84),
    index("model_84_by_parent").on(table.parentId),
  ],
);
export const model84Relations = relations(model84, ({ one, many }) => ({
  parent: one(model83, {
    fields: [model84.parentId],
    references: [model83.id],
  }),
  children: many(model85),
}));