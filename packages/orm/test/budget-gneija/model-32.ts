
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model31 } from "./model-31.js";
import { model33 } from "./model-33.js";
export const model32 = sqliteTable(
  "model_32",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team32: text("team").notNull(),
    score32: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_32_by_email").on(table.email),
    index("model_32_by_team").on(table.team32, table.score32),
    index("model_32_by_parent").on(table.parentId),
  ],
);
export const model32Relations = relations(model32, ({ one, many }) => ({
  parent: one(model31, {
    fields: [model32.parentId],
    references: [model31.id],
  }),
  children: many(model33),
}));