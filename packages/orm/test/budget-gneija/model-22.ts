
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model21 } from "./model-21.js";
import { model23 } from "./model-23.js";
export const model22 = sqliteTable(
  "model_22",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team22: text("team").notNull(),
    score22: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_22_by_email").on(table.email),
    index("model_22_by_team").on(table.team22, table.score22),
    index("model_22_by_parent").on(table.parentId),
  ],
);
export const model22Relations = relations(model22, ({ one, many }) => ({
  parent: one(model21, {
    fields: [model22.parentId],
    references: [model21.id],
  }),
  children: many(model23),
}));