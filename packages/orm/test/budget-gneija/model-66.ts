
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model65 } from "./model-65.js";
import { model67 } from "./model-67.js";
export const model66 = sqliteTable(
  "model_66",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team66: text("team").notNull(),
    score66: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_66_by_email").on(table.email),
    index("model_66_by_team").on(table.team66, table.score66),
    index("model_66_by_parent").on(table.parentId),
  ],
);
export const model66Relations = relations(model66, ({ one, many }) => ({
  parent: one(model65, {
    fields: [model66.parentId],
    references: [model65.id],
  }),
  children: many(model67),
}));