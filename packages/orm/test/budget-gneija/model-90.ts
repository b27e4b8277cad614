
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model89 } from "./model-89.js";
import { model91 } from "./model-91.js";
export const model90 = sqliteTable(
  "model_90",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team90: text("team").notNull(),
    score90: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_90_by_email").on(table.email),
    index("model_90_by_team").on(table.team90, table.score90),
    index("model_90_by_parent").on(table.parentId),
  ],
);
export const model90Relations = relations(model90, ({ one, many }) => ({
  parent: one(model89, {
    fields: [model90.parentId],
    references: [model89.id],
  }),
  children: many(model91),
}));