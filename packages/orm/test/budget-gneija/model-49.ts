
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model48 } from "./model-48.js";
import { model50 } from "./model-50.js";
export const model49 = sqliteTable(
  "model_49",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team49: text("team").notNull(),
    score49: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_49_by_email").on(table.email),
    index("model_49_by_team").on(table.team49, table.score49),
    index("model_49_by_parent").on(table.parentId),
  ],
);
export const model49Relations = relations(model49, ({ one, many }) => ({
  parent: one(model48, {
    fields: [model49.parentId],
    references: [model48.id],
  }),
  children: many(model50),
}));