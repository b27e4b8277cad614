
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model4 } from "./model-4.js";
import { model6 } from "./model-6.js";
export const model5 = sqliteTable(
  "model_5",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team5: text("team").notNull(),
    score5: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_5_by_email").on(table.email),
    index("model_5_by_team").on(table.team5, table.score5),
    index("model_5_by_parent").on(table.parentId),
  ],
);
export const model5Relations = relations(model5, ({ one, many }) => ({
  parent: one(model4, {
    fields: [model5.parentId],
    references: [model4.id],
  }),
  children: many(model6),
}));