
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model54 } from "./model-54.js";
import { model56 } from "./model-56.js";
export const model55 = sqliteTable(
  "model_55",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team55: text("team").notNull(),
    score55: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_55_by_email").on(table.email),
    index("model_55_by_team").on(table.team55, table.score55),
    index("model_55_by_parent").on(table.parentId),
  ],
);
export const model55Relations = relations(model55, ({ one, many }) => ({
  parent: one(model54, {
    fields: [model55.parentId],
    references: [model54.id],
  }),
  children: many(model56),
}));