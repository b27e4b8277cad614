
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model95 } from "./model-95.js";
import { model97 } from "./model-97.js";
export const model96 = sqliteTable(
  "model_96",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team96: text("team").notNull(),
    score96: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_96_by_email").on(table.email),
    index("model_96_by_team").on(table.team96, table.score96),
    index("model_96_by_parent").on(table.parentId),
  ],
);
export const model96Relations = relations(model96, ({ one, many }) => ({
  parent: one(model95, {
    fields: [model96.parentId],
    references: [model95.id],
  }),
  children: many(model97),
}));