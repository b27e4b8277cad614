
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model69 } from "./model-69.js";
import { model71 } from "./model-71.js";
export const model70 = sqliteTable(
  "model_70",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team70: text("team").notNull(),
    score70: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_70_by_email").on(table.email),
    index("model_70_by_team").on(table.team70, table.score70),
    index("model_70_by_parent").on(table.parentId),
  ],
);
export const model70Relations = relations(model70, ({ one, many }) => ({
  parent: one(model69, {
    fields: [model70.parentId],
    references: [model69.id],
  }),
  children: many(model71),
}));