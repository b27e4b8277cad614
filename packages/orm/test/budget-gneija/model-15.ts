
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model14 } from "./model-14.js";
import { model16 } from "./model-16.js";
export const model15 = sqliteTable(
  "model_15",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team15: text("team").notNull(),
    score15: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_15_by_email").on(table.email),
    index("model_15_by_team").on(table.team15, table.score15),
    index("model_15_by_parent").on(table.parentId),
  ],
);
export const model15Relations = relations(model15, ({ one, many }) => ({
  parent: one(model14, {
    fields: [model15.parentId],
    references: [model14.id],
  }),
  children: many(model16),
}));