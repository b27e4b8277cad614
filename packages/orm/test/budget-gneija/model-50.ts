
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model49 } from "./model-49.js";
import { model51 } from "./model-51.js";
export const model50 = sqliteTable(
  "model_50",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team50: text("team").notNull(),
    score50: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_50_by_email").on(table.email),
    index("model_50_by_team").on(table.team50, table.score50),
    index("model_50_by_parent").on(table.parentId),
  ],
);
export const model50Relations = relations(model50, ({ one, many }) => ({
  parent: one(model49, {
    fields: [model50.parentId],
    references: [model49.id],
  }),
  children: many(model51),
}));