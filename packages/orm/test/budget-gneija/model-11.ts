
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model10 } from "./model-10.js";
import { model12 } from "./model-12.js";
export const model11 = sqliteTable(
  "model_11",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team11: text("team").notNull(),
    score11: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_11_by_email").on(table.email),
    index("model_11_by_team").on(table.team11, table.score11),
    index("model_11_by_parent").on(table.parentId),
  ],
);
export const model11Relations = relations(model11, ({ one, many }) => ({
  parent: one(model10, {
    fields: [model11.parentId],
    references: [model10.id],
  }),
  children: many(model12),
}));