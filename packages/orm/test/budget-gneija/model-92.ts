
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model91 } from "./model-91.js";
import { model93 } from "./model-93.js";
export const model92 = sqliteTable(
  "model_92",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team92: text("team").notNull(),
    score92: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_92_by_email").on(table.email),
    index("model_92_by_team").on(table.team92, table.score92),
    index("model_92_by_parent").on(table.parentId),
  ],
);
export const model92Relations = relations(model92, ({ one, many }) => ({
  parent: one(model91, {
    fields: [model92.parentId],
    references: [model91.id],
  }),
  children: many(model93),
}));