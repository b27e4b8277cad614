
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model16 } from "./model-16.js";
import { model18 } from "./model-18.js";
export const model17 = sqliteTable(
  "model_17",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team17: text("team").notNull(),
    score17: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_17_by_email").on(table.email),
    index("model_17_by_team").on(table.team17, table.score17),
    index("model_17_by_parent").on(table.parentId),
  ],
);
export const model17Relations = relations(model17, ({ one, many }) => ({
  parent: one(model16, {
    fields: [model17.parentId],
    references: [model16.id],
  }),
  children: many(model18),
}));