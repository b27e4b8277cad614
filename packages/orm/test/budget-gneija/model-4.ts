
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model3 } from "./model-3.js";
import { model5 } from "./model-5.js";
export const model4 = sqliteTable(
  "model_4",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team4: text("team").notNull(),
    score4: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_4_by_email").on(table.email),
    index("model_4_by_team").on(table.team4, table.score4),
    index("model_4_by_parent").on(table.parentId),
  ],
);
export const model4Relations = relations(model4, ({ one, many }) => ({
  parent: one(model3, {
    fields: [model4.parentId],
    references: [model3.id],
  }),
  children: many(model5),
}));