
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model25 } from "./model-25.js";
import { model27 } from "./model-27.js";
export const model26 = sqliteTable(
  "model_26",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team26: text("team").notNull(),
    score26: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_26_by_email").on(table.email),
    index("model_26_by_team").on(table.team26, table.score26),
    index("model_26_by_parent").on(table.parentId),
  ],
);
export const model26Relations = relations(model26, ({ one, many }) => ({
  parent: one(model25, {
    fields: [model26.parentId],
    references: [model25.id],
  }),
  children: many(model27),
}));