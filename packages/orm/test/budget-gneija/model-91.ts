
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model90 } from "./model-90.js";
import { model92 } from "./model-92.js";
export const model91 = sqliteTable(
  "model_91",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team91: text("team").notNull(),
    score91: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_91_by_email").on(table.email),
    index("model_91_by_team").on(table.team91, table.score91),
    index("model_91_by_parent").on(table.parentId),
  ],
);
export const model91Relations = relations(model91, ({ one, many }) => ({
  parent: one(model90, {
    fields: [model91.parentId],
    references: [model90.id],
  }),
  children: many(model92),
}));