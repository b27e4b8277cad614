
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model18 } from "./model-18.js";
import { model20 } from "./model-20.js";
export const model19 = sqliteTable(
  "model_19",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team19: text("team").notNull(),
    score19: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_19_by_email").on(table.email),
    index("model_19_by_team").on(table.team19, table.score19),
    index("model_19_by_parent").on(table.parentId),
  ],
);
export const model19Relations = relations(model19, ({ one, many }) => ({
  parent: one(model18, {
    fields: [model19.parentId],
    references: [model18.id],
  }),
  children: many(model20),
}));