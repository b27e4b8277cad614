
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model80 } from "./model-80.js";
export async function queries80(db: Db) {
  const one = await db.query.model80.findFirst({ where: eq(model80.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model80)
    .where(and(eq(model80.team80, "a"), gte(model80.score80, 1)))
    .orderBy(model80.score80)
    .limit(10);
  const some = await db.query.model80.findFirst({
    where: eq(model80.team80, "a"),
    orderBy: desc(model80.score80),
    columns: { id: true, score80: true },
    with: { children: true },
  });
  await db.update(model80).set({ name: "b" }).where(eq(model80.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score80, some?.children[0]?.note ?? "",
  ];
  return values;
}