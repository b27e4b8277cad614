
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model2 } from "./model-2.js";
import { model4 } from "./model-4.js";
export const model3 = sqliteTable(
  "model_3",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team3: text("team").notNull(),
    score3: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_3_by_email").on(table.email),
    index("model_3_by_team").on(table.team3, table.score3),
    index("model_3_by_parent").on(table.parentId),
  ],
);
export const model3Relations = relations(model3, ({ one, many }) => ({
  parent: one(model2, {
    fields: [model3.parentId],
    references: [model2.id],
  }),
  children: many(model4),
}));