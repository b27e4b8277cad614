
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model35 } from "./model-35.js";
import { model37 } from "./model-37.js";
export const model36 = sqliteTable(
  "model_36",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team36: text("team").notNull(),
    score36: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_36_by_email").on(table.email),
    index("model_36_by_team").on(table.team36, table.score36),
    index("model_36_by_parent").on(table.parentId),
  ],
);
export const model36Relations = relations(model36, ({ one, many }) => ({
  parent: one(model35, {
    fields: [model36.parentId],
    references: [model35.id],
  }),
  children: many(model37),
}));