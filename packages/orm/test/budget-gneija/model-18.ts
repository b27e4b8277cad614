
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model17 } from "./model-17.js";
import { model19 } from "./model-19.js";
export const model18 = sqliteTable(
  "model_18",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team18: text("team").notNull(),
    score18: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_18_by_email").on(table.email),
    index("model_18_by_team").on(table.team18, table.score18),
    index("model_18_by_parent").on(table.parentId),
  ],
);
export const model18Relations = relations(model18, ({ one, many }) => ({
  parent: one(model17, {
    fields: [model18.parentId],
    references: [model17.id],
  }),
  children: many(model19),
}));