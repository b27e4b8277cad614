
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model50 } from "./model-50.js";
import { model52 } from "./model-52.js";
export const model51 = sqliteTable(
  "model_51",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team51: text("team").notNull(),
    score51: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_51_by_email").on(table.email),
    index("model_51_by_team").on(table.team51, table.score51),
    index("model_51_by_parent").on(table.parentId),
  ],
);
export const model51Relations = relations(model51, ({ one, many }) => ({
  parent: one(model50, {
    fields: [model51.parentId],
    references: [model50.id],
  }),
  children: many(model52),
}));