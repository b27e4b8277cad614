
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model72 } from "./model-72.js";
import { model74 } from "./model-74.js";
export const model73 = sqliteTable(
  "model_73",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team73: text("team").notNull(),
    score73: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_73_by_email").on(table.email),
    index("model_73_by_team").on(table.team73, table.score73),
    index("model_73_by_parent").on(table.parentId),
  ],
);
export const model73Relations = relations(model73, ({ one, many }) => ({
  parent: one(model72, {
    fields: [model73.parentId],
    references: [model72.id],
  }),
  children: many(model74),
}));