
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model27 } from "./model-27.js";
import { model29 } from "./model-29.js";
export const model28 = sqliteTable(
  "model_28",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team28: text("team").notNull(),
    score28: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_28_by_email").on(table.email),
    index("model_28_by_team").on(table.team28, table.score28),
    index("model_28_by_parent").on(table.parentId),
  ],
);
export const model28Relations = relations(model28, ({ one, many }) => ({
  parent: one(model27, {
    fields: [model28.parentId],
    references: [model27.id],
  }),
  children: many(model29),
}));