
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model15 } from "./model-15.js";
import { model17 } from "./model-17.js";
export const model16 = sqliteTable(
  "model_16",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team16: text("team").notNull(),
    score16: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_16_by_email").on(table.email),
    index("model_16_by_team").on(table.team16, table.score16),
    index("model_16_by_parent").on(table.parentId),
  ],
);
export const model16Relations = relations(model16, ({ one, many }) => ({
  parent: one(model15, {
    fields: [model16.parentId],
    references: [model15.id],
  }),
  children: many(model17),
}));