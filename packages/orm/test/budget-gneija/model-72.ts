
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model71 } from "./model-71.js";
import { model73 } from "./model-73.js";
export const model72 = sqliteTable(
  "model_72",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team72: text("team").notNull(),
    score72: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_72_by_email").on(table.email),
    index("model_72_by_team").on(table.team72, table.score72),
    index("model_72_by_parent").on(table.parentId),
  ],
);
export const model72Relations = relations(model72, ({ one, many }) => ({
  parent: one(model71, {
    fields: [model72.parentId],
    references: [model71.id],
  }),
  children: many(model73),
}));