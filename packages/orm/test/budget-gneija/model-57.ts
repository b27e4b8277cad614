
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model56 } from "./model-56.js";
import { model58 } from "./model-58.js";
export const model57 = sqliteTable(
  "model_57",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team57: text("team").notNull(),
    score57: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_57_by_email").on(table.email),
    index("model_57_by_team").on(table.team57, table.score57),
    index("model_57_by_parent").on(table.parentId),
  ],
);
export const model57Relations = relations(model57, ({ one, many }) => ({
  parent: one(model56, {
    fields: [model57.parentId],
    references: [model56.id],
  }),
  children: many(model58),
}));