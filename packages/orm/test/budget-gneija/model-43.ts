
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model42 } from "./model-42.js";
import { model44 } from "./model-44.js";
export const model43 = sqliteTable(
  "model_43",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team43: text("team").notNull(),
    score43: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_43_by_email").on(table.email),
    index("model_43_by_team").on(table.team43, table.score43),
    index("model_43_by_parent").on(table.parentId),
  ],
);
export const model43Relations = relations(model43, ({ one, many }) => ({
  parent: one(model42, {
    fields: [model43.parentId],
    references: [model42.id],
  }),
  children: many(model44),
}));