
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model78 } from "./model-78.js";
import { model80 } from "./model-80.js";
export const model79 = sqliteTable(
  "model_79",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team79: text("team").notNull(),
    score79: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_79_by_email").on(table.email),
    index("model_79_by_team").on(table.team79, table.score79),
    index("model_79_by_parent").on(table.parentId),
  ],
);
export const model79Relations = relations(model79, ({ one, many }) => ({
  parent: one(model78, {
    fields: [model79.parentId],
    references: [model78.id],
  }),
  children: many(model80),
}));