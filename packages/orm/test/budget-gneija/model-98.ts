
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model97 } from "./model-97.js";
import { model99 } from "./model-99.js";
export const model98 = sqliteTable(
  "model_98",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team98: text("team").notNull(),
    score98: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_98_by_email").on(table.email),
    index("model_98_by_team").on(table.team98, table.score98),
    index("model_98_by_parent").on(table.parentId),
  ],
);
export const model98Relations = relations(model98, ({ one, many }) => ({
  parent: one(model97, {
    fields: [model98.parentId],
    references: [model97.id],
  }),
  children: many(model99),
}));