
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model34 } from "./model-34.js";
import { model36 } from "./model-36.js";
export const model35 = sqliteTable(
  "model_35",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team35: text("team").notNull(),
    score35: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_35_by_email").on(table.email),
    index("model_35_by_team").on(table.team35, table.score35),
    index("model_35_by_parent").on(table.parentId),
  ],
);
export const model35Relations = relations(model35, ({ one, many }) => ({
  parent: one(model34, {
    fields: [model35.parentId],
    references: [model34.id],
  }),
  children: many(model36),
}));