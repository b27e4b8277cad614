
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model8 } from "./model-8.js";
import { model10 } from "./model-10.js";
export const model9 = sqliteTable(
  "model_9",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team9: text("team").notNull(),
    score9: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_9_by_email").on(table.email),
    index("model_9_by_team").on(table.team9, table.score9),
    index("model_9_by_parent").on(table.parentId),
  ],
);
export const model9Relations = relations(model9, ({ one, many }) => ({
  parent: one(model8, {
    fields: [model9.parentId],
    references: [model8.id],
  }),
  children: many(model10),
}));