
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model99 } from "./model-99.js";
import { model1 } from "./model-1.js";
export const model0 = sqliteTable(
  "model_0",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team0: text("team").notNull(),
    score0: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_0_by_email").on(table.email),
    index("model_0_by_team").on(table.team0, table.score0),
    index("model_0_by_parent").on(table.parentId),
  ],
);
export const model0Relations = relations(model0, ({ one, many }) => ({
  parent: one(model99, {
    fields: [model0.parentId],
    references: [model99.id],
  }),
  children: many(model1),
}));