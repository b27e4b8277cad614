
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model29 } from "./model-29.js";
import { model31 } from "./model-31.js";
export const model30 = sqliteTable(
  "model_30",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team30: text("team").notNull(),
    score30: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_30_by_email").on(table.email),
    index("model_30_by_team").on(table.team30, table.score30),
    index("model_30_by_parent").on(table.parentId),
  ],
);
export const model30Relations = relations(model30, ({ one, many }) => ({
  parent: one(model29, {
    fields: [model30.parentId],
    references: [model29.id],
  }),
  children: many(model31),
}));