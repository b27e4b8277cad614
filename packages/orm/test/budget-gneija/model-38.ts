
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model37 } from "./model-37.js";
import { model39 } from "./model-39.js";
export const model38 = sqliteTable(
  "model_38",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team38: text("team").notNull(),
    score38: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_38_by_email").on(table.email),
    index("model_38_by_team").on(table.team38, table.score38),
    index("model_38_by_parent").on(table.parentId),
  ],
);
export const model38Relations = relations(model38, ({ one, many }) => ({
  parent: one(model37, {
    fields: [model38.parentId],
    references: [model37.id],
  }),
  children: many(model39),
}));