
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model45 } from "./model-45.js";
import { model47 } from "./model-47.js";
export const model46 = sqliteTable(
  "model_46",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team46: text("team").notNull(),
    score46: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_46_by_email").on(table.email),
    index("model_46_by_team").on(table.team46, table.score46),
    index("model_46_by_parent").on(table.parentId),
  ],
);
export const model46Relations = relations(model46, ({ one, many }) => ({
  parent: one(model45, {
    fields: [model46.parentId],
    references: [model45.id],
  }),
  children: many(model47),
}));