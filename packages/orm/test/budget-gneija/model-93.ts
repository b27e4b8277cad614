
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model92 } from "./model-92.js";
import { model94 } from "./model-94.js";
export const model93 = sqliteTable(
  "model_93",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team93: text("team").notNull(),
    score93: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_93_by_email").on(table.email),
    index("model_93_by_team").on(table.team93, table.score93),
    index("model_93_by_parent").on(table.parentId),
  ],
);
export const model93Relations = relations(model93, ({ one, many }) => ({
  parent: one(model92, {
    fields: [model93.parentId],
    references: [model92.id],
  }),
  children: many(model94),
}));