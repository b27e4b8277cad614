
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model43 } from "./model-43.js";
import { model45 } from "./model-45.js";
export const model44 = sqliteTable(
  "model_44",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team44: text("team").notNull(),
    score44: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_44_by_email").on(table.email),
    index("model_44_by_team").on(table.team44, table.score44),
    index("model_44_by_parent").on(table.parentId),
  ],
);
export const model44Relations = relations(model44, ({ one, many }) => ({
  parent: one(model43, {
    fields: [model44.parentId],
    references: [model43.id],
  }),
  children: many(model45),
}));