
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model23 } from "./model-23.js";
import { model25 } from "./model-25.js";
export const model24 = sqliteTable(
  "model_24",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team24: text("team").notNull(),
    score24: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_24_by_email").on(table.email),
    index("model_24_by_team").on(table.team24, table.score24),
    index("model_24_by_parent").on(table.parentId),
  ],
);
export const model24Relations = relations(model24, ({ one, many }) => ({
  parent: one(model23, {
    fields: [model24.parentId],
    references: [model23.id],
  }),
  children: many(model25),
}));