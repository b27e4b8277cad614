
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model73 } from "./model-73.js";
import { model75 } from "./model-75.js";
export const model74 = sqliteTable(
  "model_74",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team74: text("team").notNull(),
    score74: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_74_by_email").on(table.email),
    index("model_74_by_team").on(table.team74, table.score74),
    index("model_74_by_parent").on(table.parentId),
  ],
);
export const model74Relations = relations(model74, ({ one, many }) => ({
  parent: one(model73, {
    fields: [model74.parentId],
    references: [model73.id],
  }),
  children: many(model75),
}));