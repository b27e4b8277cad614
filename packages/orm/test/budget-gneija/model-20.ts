
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model19 } from "./model-19.js";
import { model21 } from "./model-21.js";
export const model20 = sqliteTable(
  "model_20",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team20: text("team").notNull(),
    score20: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_20_by_email").on(table.email),
    index("model_20_by_team").on(table.team20, table.score20),
    index("model_20_by_parent").on(table.parentId),
  ],
);
export const model20Relations = relations(model20, ({ one, many }) => ({
  parent: one(model19, {
    fields: [model20.parentId],
    references: [model19.id],
  }),
  children: many(model21),
}));