
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model81 } from "./model-81.js";
import { model83 } from "./model-83.js";
export const model82 = sqliteTable(
  "model_82",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team82: text("team").notNull(),
    score82: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_82_by_email").on(table.email),
    index("model_82_by_team").on(table.team82, table.score82),
    index("model_82_by_parent").on(table.parentId),
  ],
);
export const model82Relations = relations(model82, ({ one, many }) => ({
  parent: one(model81, {
    fields: [model82.parentId],
    references: [model81.id],
  }),
  children: many(model83),
}));