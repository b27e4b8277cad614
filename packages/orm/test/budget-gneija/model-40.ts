
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model39 } from "./model-39.js";
import { model41 } from "./model-41.js";
export const model40 = sqliteTable(
  "model_40",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team40: text("team").notNull(),
    score40: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_40_by_email").on(table.email),
    index("model_40_by_team").on(table.team40, table.score40),
    index("model_40_by_parent").on(table.parentId),
  ],
);
export const model40Relations = relations(model40, ({ one, many }) => ({
  parent: one(model39, {
    fields: [model40.parentId],
    references: [model39.id],
  }),
  children: many(model41),
}));