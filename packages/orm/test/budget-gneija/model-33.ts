
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model32 } from "./model-32.js";
import { model34 } from "./model-34.js";
export const model33 = sqliteTable(
  "model_33",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team33: text("team").notNull(),
    score33: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_33_by_email").on(table.email),
    index("model_33_by_team").on(table.team33, table.score33),
    index("model_33_by_parent").on(table.parentId),
  ],
);
export const model33Relations = relations(model33, ({ one, many }) => ({
  parent: one(model32, {
    fields: [model33.parentId],
    references: [model32.id],
  }),
  children: many(model34),
}));