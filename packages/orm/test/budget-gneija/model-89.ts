
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model88 } from "./model-88.js";
import { model90 } from "./model-90.js";
export const model89 = sqliteTable(
  "model_89",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team89: text("team").notNull(),
    score89: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_89_by_email").on(table.email),
    index("model_89_by_team").on(table.team89, table.score89),
    index("model_89_by_parent").on(table.parentId),
  ],
);
export const model89Relations = relations(model89, ({ one, many }) => ({
  parent: one(model88, {
    fields: [model89.parentId],
    references: [model88.id],
  }),
  children: many(model90),
}));