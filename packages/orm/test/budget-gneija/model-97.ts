
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model96 } from "./model-96.js";
import { model98 } from "./model-98.js";
export const model97 = sqliteTable(
  "model_97",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team97: text("team").notNull(),
    score97: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_97_by_email").on(table.email),
    index("model_97_by_team").on(table.team97, table.score97),
    index("model_97_by_parent").on(table.parentId),
  ],
);
export const model97Relations = relations(model97, ({ one, many }) => ({
  parent: one(model96, {
    fields: [model97.parentId],
    references: [model96.id],
  }),
  children: many(model98),
}));