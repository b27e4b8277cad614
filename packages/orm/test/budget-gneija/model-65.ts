
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model64 } from "./model-64.js";
import { model66 } from "./model-66.js";
export const model65 = sqliteTable(
  "model_65",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team65: text("team").notNull(),
    score65: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_65_by_email").on(table.email),
    index("model_65_by_team").on(table.team65, table.score65),
    index("model_65_by_parent").on(table.parentId),
  ],
);
export const model65Relations = relations(model65, ({ one, many }) => ({
  parent: one(model64, {
    fields: [model65.parentId],
    references: [model64.id],
  }),
  children: many(model66),
}));