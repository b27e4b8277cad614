
import { relations } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { model76 } from "./model-76.js";
import { model78 } from "./model-78.js";
export const model77 = sqliteTable(
  "model_77",
  {
    id: text("id").primaryKey(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    team77: text("team").notNull(),
    score77: real("score").notNull(),
    active: integer("active", { mode: "boolean" }).notNull(),
    note: text("note"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    parentId: text("parent_id").notNull(),
  },
  (table) => [
    uniqueIndex("model_77_by_email").on(table.email),
    index("model_77_by_team").on(table.team77, table.score77),
    index("model_77_by_parent").on(table.parentId),
  ],
);
export const model77Relations = relations(model77, ({ one, many }) => ({
  parent: one(model76, {
    fields: [model77.parentId],
    references: [model76.id],
  }),
  children: many(model78),
}));