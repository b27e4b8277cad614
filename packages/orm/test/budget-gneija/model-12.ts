
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model11 } from "./model-11.js";
import { model13 } from "./model-13.js";
export const model12 = sqliteTable(
  "model_12",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team12: text("team").notNull(),
    score12: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_12_by_email").on(table.email),
    index("model_12_by_team").on(table.team12, table.score12),
    index("model_12_by_parent").on(table.parentId),
  ],
);
export const model12Relations = relations(model12, ({ one, many }) => ({
  parent: one(model11, {
    fields: [model12.parentId],
    references: [model11.id],
  }),
  children: many(model13),
}));