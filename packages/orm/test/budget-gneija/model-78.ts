
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model77 } from "./model-77.js";
import { model79 } from "./model-79.js";
export const model78 = sqliteTable(
  "model_78",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team78: text("team").notNull(),
    score78: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_78_by_email").on(table.email),
    index("model_78_by_team").on(table.team78, table.score78),
    index("model_78_by_parent").on(table.parentId),
  ],
);
export const model78Relations = relations(model78, ({ one, many }) => ({
  parent: one(model77, {
    fields: [model78.parentId],
    references: [model77.id],
  }),
  children: many(model79),
}));