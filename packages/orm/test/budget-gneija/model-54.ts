
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model53 } from "./model-53.js";
import { model55 } from "./model-55.js";
export const model54 = sqliteTable(
  "model_54",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team54: text("team").notNull(),
    score54: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_54_by_email").on(table.email),
    index("model_54_by_team").on(table.team54, table.score54),
    index("model_54_by_parent").on(table.parentId),
  ],
);
export const model54Relations = relations(model54, ({ one, many }) => ({
  parent: one(model53, {
    fields: [model54.parentId],
    references: [model53.id],
  }),
  children: many(model55),
}));