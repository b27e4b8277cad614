
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model70 } from "./model-70.js";
import { model72 } from "./model-72.js";
export const model71 = sqliteTable(
  "model_71",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team71: text("team").notNull(),
    score71: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_71_by_email").on(table.email),
    index("model_71_by_team").on(table.team71, table.score71),
    index("model_71_by_parent").on(table.parentId),
  ],
);
export const model71Relations = relations(model71, ({ one, many }) => ({
  parent: one(model70, {
    fields: [model71.parentId],
    references: [model70.id],
  }),
  children: many(model72),
}));