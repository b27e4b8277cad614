
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model36 } from "./model-36.js";
import { model38 } from "./model-38.js";
export const model37 = sqliteTable(
  "model_37",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team37: text("team").notNull(),
    score37: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_37_by_email").on(table.email),
    index("model_37_by_team").on(table.team37, table.score37),
    index("model_37_by_parent").on(table.parentId),
  ],
);
export const model37Relations = relations(model37, ({ one, many }) => ({
  parent: one(model36, {
    fields: [model37.parentId],
    references: [model36.id],
  }),
  children: many(model38),
}));