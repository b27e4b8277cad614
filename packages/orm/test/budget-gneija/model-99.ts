
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model98 } from "./model-98.js";
import { model0 } from "./model-0.js";
export const model99 = sqliteTable(
  "model_99",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team99: text("team").notNull(),
    score99: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_99_by_email").on(table.email),
    index("model_99_by_team").on(table.team99, table.score99),
    index("model_99_by_parent").on(table.parentId),
  ],
);
export const model99Relations = relations(model99, ({ one, many }) => ({
  parent: one(model98, {
    fields: [model99.parentId],
    references: [model98.id],
  }),
  children: many(model0),
}));