
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model94 } from "./model-94.js";
import { model96 } from "./model-96.js";
export const model95 = sqliteTable(
  "model_95",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team95: text("team").notNull(),
    score95: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_95_by_email").on(table.email),
    index("model_95_by_team").on(table.team95, table.score95),
    index("model_95_by_parent").on(table.parentId),
  ],
);
export const model95Relations = relations(model95, ({ one, many }) => ({
  parent: one(model94, {
    fields: [model95.parentId],
    references: [model94.id],
  }),
  children: many(model96),
}));