
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model20 } from "./model-20.js";
import { model22 } from "./model-22.js";
export const model21 = sqliteTable(
  "model_21",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team21: text("team").notNull(),
    score21: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_21_by_email").on(table.email),
    index("model_21_by_team").on(table.team21, table.score21),
    index("model_21_by_parent").on(table.parentId),
  ],
);
export const model21Relations = relations(model21, ({ one, many }) => ({
  parent: one(model20, {
    fields: [model21.parentId],
    references: [model20.id],
  }),
  children: many(model22),
}));