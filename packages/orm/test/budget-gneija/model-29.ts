
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model28 } from "./model-28.js";
import { model30 } from "./model-30.js";
export const model29 = sqliteTable(
  "model_29",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team29: text("team").notNull(),
    score29: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_29_by_email").on(table.email),
    index("model_29_by_team").on(table.team29, table.score29),
    index("model_29_by_parent").on(table.parentId),
  ],
);
export const model29Relations = relations(model29, ({ one, many }) => ({
  parent: one(model28, {
    fields: [model29.parentId],
    references: [model28.id],
  }),
  children: many(model30),
}));