
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model80 } from "./model-80.js";
import { model82 } from "./model-82.js";
export const model81 = sqliteTable(
  "model_81",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team81: text("team").notNull(),
    score81: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_81_by_email").on(table.email),
    index("model_81_by_team").on(table.team81, table.score81),
    index("model_81_by_parent").on(table.parentId),
  ],
);
export const model81Relations = relations(model81, ({ one, many }) => ({
  parent: one(model80, {
    fields: [model81.parentId],
    references: [model80.id],
  }),
  children: many(model82),
}));