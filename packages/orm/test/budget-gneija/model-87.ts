
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model86 } from "./model-86.js";
import { model88 } from "./model-88.js";
export const model87 = sqliteTable(
  "model_87",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team87: text("team").notNull(),
    score87: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_87_by_email").on(table.email),
    index("model_87_by_team").on(table.team87, table.score87),
    index("model_87_by_parent").on(table.parentId),
  ],
);
export const model87Relations = relations(model87, ({ one, many }) => ({
  parent: one(model86, {
    fields: [model87.parentId],
    references: [model86.id],
  }),
  children: many(model88),
}));