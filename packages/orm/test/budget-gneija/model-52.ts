
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model51 } from "./model-51.js";
import { model53 } from "./model-53.js";
export const model52 = sqliteTable(
  "model_52",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team52: text("team").notNull(),
    score52: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_52_by_email").on(table.email),
    index("model_52_by_team").on(table.team52, table.score52),
    index("model_52_by_parent").on(table.parentId),
  ],
);
export const model52Relations = relations(model52, ({ one, many }) => ({
  parent: one(model51, {
    fields: [model52.parentId],
    references: [model51.id],
  }),
  children: many(model53),
}));