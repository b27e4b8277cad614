
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model66 } from "./model-66.js";
import { model68 } from "./model-68.js";
export const model67 = sqliteTable(
  "model_67",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team67: text("team").notNull(),
    score67: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_67_by_email").on(table.email),
    index("model_67_by_team").on(table.team67, table.score67),
    index("model_67_by_parent").on(table.parentId),
  ],
);
export const model67Relations = relations(model67, ({ one, many }) => ({
  parent: one(model66, {
    fields: [model67.parentId],
    references: [model66.id],
  }),
  children: many(model68),
}));