
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model46 } from "./model-46.js";
import { model48 } from "./model-48.js";
export const model47 = sqliteTable(
  "model_47",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team47: text("team").notNull(),
    score47: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_47_by_email").on(table.email),
    index("model_47_by_team").on(table.team47, table.score47),
    index("model_47_by_parent").on(table.parentId),
  ],
);
export const model47Relations = relations(model47, ({ one, many }) => ({
  parent: one(model46, {
    fields: [model47.parentId],
    references: [model46.id],
  }),
  children: many(model48),
}));