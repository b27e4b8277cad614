
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model67 } from "./model-67.js";
import { model69 } from "./model-69.js";
export const model68 = sqliteTable(
  "model_68",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team68: text("team").notNull(),
    score68: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_68_by_email").on(table.email),
    index("model_68_by_team").on(table.team68, table.score68),
    index("model_68_by_parent").on(table.parentId),
  ],
);
export const model68Relations = relations(model68, ({ one, many }) => ({
  parent: one(model67, {
    fields: [model68.parentId],
    references: [model67.id],
  }),
  children: many(model69),
}));