
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model24 } from "./model-24.js";
import { model26 } from "./model-26.js";
export const model25 = sqliteTable(
  "model_25",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team25: text("team").notNull(),
    score25: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_25_by_email").on(table.email),
    index("model_25_by_team").on(table.team25, table.score25),
    index("model_25_by_parent").on(table.parentId),
  ],
);
export const model25Relations = relations(model25, ({ one, many }) => ({
  parent: one(model24, {
    fields: [model25.parentId],
    references: [model24.id],
  }),
  children: many(model26),
}));