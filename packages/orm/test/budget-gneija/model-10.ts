
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model9 } from "./model-9.js";
import { model11 } from "./model-11.js";
export const model10 = sqliteTable(
  "model_10",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team10: text("team").notNull(),
    score10: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_10_by_email").on(table.email),
    index("model_10_by_team").on(table.team10, table.score10),
    index("model_10_by_parent").on(table.parentId),
  ],
);
export const model10Relations = relations(model10, ({ one, many }) => ({
  parent: one(model9, {
    fields: [model10.parentId],
    references: [model9.id],
  }),
  children: many(model11),
}));