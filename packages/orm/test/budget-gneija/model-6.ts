
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model5 } from "./model-5.js";
import { model7 } from "./model-7.js";
export const model6 = sqliteTable(
  "model_6",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team6: text("team").notNull(),
    score6: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_6_by_email").on(table.email),
    index("model_6_by_team").on(table.team6, table.score6),
    index("model_6_by_parent").on(table.parentId),
  ],
);
export const model6Relations = relations(model6, ({ one, many }) => ({
  parent: one(model5, {
    fields: [model6.parentId],
    references: [model5.id],
  }),
  children: many(model7),
}));