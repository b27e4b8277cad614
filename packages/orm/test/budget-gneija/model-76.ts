
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model75 } from "./model-75.js";
import { model77 } from "./model-77.js";
export const model76 = sqliteTable(
  "model_76",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team76: text("team").notNull(),
    score76: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_76_by_email").on(table.email),
    index("model_76_by_team").on(table.team76, table.score76),
    index("model_76_by_parent").on(table.parentId),
  ],
);
export const model76Relations = relations(model76, ({ one, many }) => ({
  parent: one(model75, {
    fields: [model76.parentId],
    references: [model75.id],
  }),
  children: many(model77),
}));