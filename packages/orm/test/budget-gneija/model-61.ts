
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model60 } from "./model-60.js";
import { model62 } from "./model-62.js";
export const model61 = sqliteTable(
  "model_61",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team61: text("team").notNull(),
    score61: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_61_by_email").on(table.email),
    index("model_61_by_team").on(table.team61, table.score61),
    index("model_61_by_parent").on(table.parentId),
  ],
);
export const model61Relations = relations(model61, ({ one, many }) => ({
  parent: one(model60, {
    fields: [model61.parentId],
    references: [model60.id],
  }),
  children: many(model62),
}));