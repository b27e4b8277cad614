
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model44 } from "./model-44.js";
import { model46 } from "./model-46.js";
export const model45 = sqliteTable(
  "model_45",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team45: text("team").notNull(),
    score45: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_45_by_email").on(table.email),
    index("model_45_by_team").on(table.team45, table.score45),
    index("model_45_by_parent").on(table.parentId),
  ],
);
export const model45Relations = relations(model45, ({ one, many }) => ({
  parent: one(model44, {
    fields: [model45.parentId],
    references: [model44.id],
  }),
  children: many(model46),
}));