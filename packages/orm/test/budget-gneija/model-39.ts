
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model38 } from "./model-38.js";
import { model40 } from "./model-40.js";
export const model39 = sqliteTable(
  "model_39",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team39: text("team").notNull(),
    score39: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_39_by_email").on(table.email),
    index("model_39_by_team").on(table.team39, table.score39),
    index("model_39_by_parent").on(table.parentId),
  ],
);
export const model39Relations = relations(model39, ({ one, many }) => ({
  parent: one(model38, {
    fields: [model39.parentId],
    references: [model38.id],
  }),
  children: many(model40),
}));