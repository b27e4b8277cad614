
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model63 } from "./model-63.js";
import { model65 } from "./model-65.js";
export const model64 = sqliteTable(
  "model_64",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team64: text("team").notNull(),
    score64: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_64_by_email").on(table.email),
    index("model_64_by_team").on(table.team64, table.score64),
    index("model_64_by_parent").on(table.parentId),
  ],
);
export const model64Relations = relations(model64, ({ one, many }) => ({
  parent: one(model63, {
    fields: [model64.parentId],
    references: [model63.id],
  }),
  children: many(model65),
}));