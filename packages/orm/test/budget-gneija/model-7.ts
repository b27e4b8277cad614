
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model6 } from "./model-6.js";
import { model8 } from "./model-8.js";
export const model7 = sqliteTable(
  "model_7",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team7: text("team").notNull(),
    score7: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_7_by_email").on(table.email),
    index("model_7_by_team").on(table.team7, table.score7),
    index("model_7_by_parent").on(table.parentId),
  ],
);
export const model7Relations = relations(model7, ({ one, many }) => ({
  parent: one(model6, {
    fields: [model7.parentId],
    references: [model6.id],
  }),
  children: many(model8),
}));