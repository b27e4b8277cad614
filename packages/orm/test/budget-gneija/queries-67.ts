
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model67 } from "./model-67.js";
export async function queries67(db: Db) {
  const one = await db.query.model67.findFirst({ where: eq(model67.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model67)
    .where(and(eq(model67.team67, "a"), gte(model67.score67, 1)))
    .orderBy(model67.score67)
    .limit(10);
  const some = await db.query.model67.findFirst({
    where: eq(model67.team67, "a"),
    orderBy: desc(model67.score67),
    columns: { id: true, score67: true },
    with: { children: true },
  });
  await db.update(model67).set({ name: "b" }).where(eq(model67.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score67, some?.children[0]?.note ?? "",
  ];
  return values;
}