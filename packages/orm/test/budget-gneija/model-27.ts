
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model26 } from "./model-26.js";
import { model28 } from "./model-28.js";
export const model27 = sqliteTable(
  "model_27",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team27: text("team").notNull(),
    score27: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_27_by_email").on(table.email),
    index("model_27_by_team").on(table.team27, table.score27),
    index("model_27_by_parent").on(table.parentId),
  ],
);
export const model27Relations = relations(model27, ({ one, many }) => ({
  parent: one(model26, {
    fields: [model27.parentId],
    references: [model26.id],
  }),
  children: many(model28),
}));