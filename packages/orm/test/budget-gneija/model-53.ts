
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model52 } from "./model-52.js";
import { model54 } from "./model-54.js";
export const model53 = sqliteTable(
  "model_53",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team53: text("team").notNull(),
    score53: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_53_by_email").on(table.email),
    index("model_53_by_team").on(table.team53, table.score53),
    index("model_53_by_parent").on(table.parentId),
  ],
);
export const model53Relations = relations(model53, ({ one, many }) => ({
  parent: one(model52, {
    fields: [model53.parentId],
    references: [model52.id],
  }),
  children: many(model54),
}));