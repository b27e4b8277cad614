
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model59 } from "./model-59.js";
import { model61 } from "./model-61.js";
export const model60 = sqliteTable(
  "model_60",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team60: text("team").notNull(),
    score60: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_60_by_email").on(table.email),
    index("model_60_by_team").on(table.team60, table.score60),
    index("model_60_by_parent").on(table.parentId),
  ],
);
export const model60Relations = relations(model60, ({ one, many }) => ({
  parent: one(model59, {
    fields: [model60.parentId],
    references: [model59.id],
  }),
  children: many(model61),
}));