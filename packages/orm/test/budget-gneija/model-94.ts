
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model93 } from "./model-93.js";
import { model95 } from "./model-95.js";
export const model94 = sqliteTable(
  "model_94",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team94: text("team").notNull(),
    score94: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_94_by_email").on(table.email),
    index("model_94_by_team").on(table.team94, table.score94),
    index("model_94_by_parent").on(table.parentId),
  ],
);
export const model94Relations = relations(model94, ({ one, many }) => ({
  parent: one(model93, {
    fields: [model94.parentId],
    references: [model93.id],
  }),
  children: many(model95),
}));