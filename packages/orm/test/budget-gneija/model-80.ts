
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model79 } from "./model-79.js";
import { model81 } from "./model-81.js";
export const model80 = sqliteTable(
  "model_80",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team80: text("team").notNull(),
    score80: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_80_by_email").on(table.email),
    index("model_80_by_team").on(table.team80, table.score80),
    index("model_80_by_parent").on(table.parentId),
  ],
);
export const model80Relations = relations(model80, ({ one, many }) => ({
  parent: one(model79, {
    fields: [model80.parentId],
    references: [model79.id],
  }),
  children: many(model81),
}));