
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model62 } from "./model-62.js";
import { model64 } from "./model-64.js";
export const model63 = sqliteTable(
  "model_63",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team63: text("team").notNull(),
    score63: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_63_by_email").on(table.email),
    index("model_63_by_team").on(table.team63, table.score63),
    index("model_63_by_parent").on(table.parentId),
  ],
);
export const model63Relations = relations(model63, ({ one, many }) => ({
  parent: one(model62, {
    fields: [model63.parentId],
    references: [model62.id],
  }),
  children: many(model64),
}));