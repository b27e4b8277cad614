
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model40 } from "./model-40.js";
import { model42 } from "./model-42.js";
export const model41 = sqliteTable(
  "model_41",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team41: text("team").notNull(),
    score41: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_41_by_email").on(table.email),
    index("model_41_by_team").on(table.team41, table.score41),
    index("model_41_by_parent").on(table.parentId),
  ],
);
export const model41Relations = relations(model41, ({ one, many }) => ({
  parent: one(model40, {
    fields: [model41.parentId],
    references: [model40.id],
  }),
  children: many(model42),
}));