
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model12 } from "./model-12.js";
import { model14 } from "./model-14.js";
export const model13 = sqliteTable(
  "model_13",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team13: text("team").notNull(),
    score13: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_13_by_email").on(table.email),
    index("model_13_by_team").on(table.team13, table.score13),
    index("model_13_by_parent").on(table.parentId),
  ],
);
export const model13Relations = relations(model13, ({ one, many }) => ({
  parent: one(model12, {
    fields: [model13.parentId],
    references: [model12.id],
  }),
  children: many(model14),
}));