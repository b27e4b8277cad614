
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model84 } from "./model-84.js";
import { model86 } from "./model-86.js";
export const model85 = sqliteTable(
  "model_85",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team85: text("team").notNull(),
    score85: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_85_by_email").on(table.email),
    index("model_85_by_team").on(table.team85, table.score85),
    index("model_85_by_parent").on(table.parentId),
  ],
);
export const model85Relations = relations(model85, ({ one, many }) => ({
  parent: one(model84, {
    fields: [model85.parentId],
    references: [model84.id],
  }),
  children: many(model86),
}));