
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model7 } from "./model-7.js";
import { model9 } from "./model-9.js";
export const model8 = sqliteTable(
  "model_8",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team8: text("team").notNull(),
    score8: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_8_by_email").on(table.email),
    index("model_8_by_team").on(table.team8, table.score8),
    index("model_8_by_parent").on(table.parentId),
  ],
);
export const model8Relations = relations(model8, ({ one, many }) => ({
  parent: one(model7, {
    fields: [model8.parentId],
    references: [model7.id],
  }),
  children: many(model9),
}));