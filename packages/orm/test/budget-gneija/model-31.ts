
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model30 } from "./model-30.js";
import { model32 } from "./model-32.js";
export const model31 = sqliteTable(
  "model_31",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team31: text("team").notNull(),
    score31: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_31_by_email").on(table.email),
    index("model_31_by_team").on(table.team31, table.score31),
    index("model_31_by_parent").on(table.parentId),
  ],
);
export const model31Relations = relations(model31, ({ one, many }) => ({
  parent: one(model30, {
    fields: [model31.parentId],
    references: [model30.id],
  }),
  children: many(model32),
}));