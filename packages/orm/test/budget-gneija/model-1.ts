
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model0 } from "./model-0.js";
import { model2 } from "./model-2.js";
export const model1 = sqliteTable(
  "model_1",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team1: text("team").notNull(),
    score1: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_1_by_email").on(table.email),
    index("model_1_by_team").on(table.team1, table.score1),
    index("model_1_by_parent").on(table.parentId),
  ],
);
export const model1Relations = relations(model1, ({ one, many }) => ({
  parent: one(model0, {
    fields: [model1.parentId],
    references: [model0.id],
  }),
  children: many(model2),
}));