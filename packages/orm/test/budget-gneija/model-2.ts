
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model1 } from "./model-1.js";
import { model3 } from "./model-3.js";
export const model2 = sqliteTable(
  "model_2",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team2: text("team").notNull(),
    score2: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_2_by_email").on(table.email),
    index("model_2_by_team").on(table.team2, table.score2),
    index("model_2_by_parent").on(table.parentId),
  ],
);
export const model2Relations = relations(model2, ({ one, many }) => ({
  parent: one(model1, {
    fields: [model2.parentId],
    references: [model1.id],
  }),
  children: many(model3),
}));