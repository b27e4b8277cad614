
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model87 } from "./model-87.js";
import { model89 } from "./model-89.js";
export const model88 = sqliteTable(
  "model_88",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team88: text("team").notNull(),
    score88: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_88_by_email").on(table.email),
    index("model_88_by_team").on(table.team88, table.score88),
    index("model_88_by_parent").on(table.parentId),
  ],
);
export const model88Relations = relations(model88, ({ one, many }) => ({
  parent: one(model87, {
    fields: [model88.parentId],
    references: [model87.id],
  }),
  children: many(model89),
}));