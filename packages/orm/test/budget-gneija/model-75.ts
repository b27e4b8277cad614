
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model74 } from "./model-74.js";
import { model76 } from "./model-76.js";
export const model75 = sqliteTable(
  "model_75",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team75: text("team").notNull(),
    score75: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_75_by_email").on(table.email),
    index("model_75_by_team").on(table.team75, table.score75),
    index("model_75_by_parent").on(table.parentId),
  ],
);
export const model75Relations = relations(model75, ({ one, many }) => ({
  parent: one(model74, {
    fields: [model75.parentId],
    references: [model74.id],
  }),
  children: many(model76),
}));