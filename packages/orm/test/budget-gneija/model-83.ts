
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model82 } from "./model-82.js";
import { model84 } from "./model-84.js";
export const model83 = sqliteTable(
  "model_83",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team83: text("team").notNull(),
    score83: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_83_by_email").on(table.email),
    index("model_83_by_team").on(table.team83, table.score83),
    index("model_83_by_parent").on(table.parentId),
  ],
);
export const model83Relations = relations(model83, ({ one, many }) => ({
  parent: one(model82, {
    fields: [model83.parentId],
    references: [model82.id],
  }),
  children: many(model84),
}));