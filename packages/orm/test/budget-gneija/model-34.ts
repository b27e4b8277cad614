
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model33 } from "./model-33.js";
import { model35 } from "./model-35.js";
export const model34 = sqliteTable(
  "model_34",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team34: text("team").notNull(),
    score34: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_34_by_email").on(table.email),
    index("model_34_by_team").on(table.team34, table.score34),
    index("model_34_by_parent").on(table.parentId),
  ],
);
export const model34Relations = relations(model34, ({ one, many }) => ({
  parent: one(model33, {
    fields: [model34.parentId],
    references: [model33.id],
  }),
  children: many(model35),
}));