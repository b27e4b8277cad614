
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model61 } from "./model-61.js";
import { model63 } from "./model-63.js";
export const model62 = sqliteTable(
  "model_62",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team62: text("team").notNull(),
    score62: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_62_by_email").on(table.email),
    index("model_62_by_team").on(table.team62, table.score62),
    index("model_62_by_parent").on(table.parentId),
  ],
);
export const model62Relations = relations(model62, ({ one, many }) => ({
  parent: one(model61, {
    fields: [model62.parentId],
    references: [model61.id],
  }),
  children: many(model63),
}));