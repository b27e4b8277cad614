
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model95 } from "./model-95.js";
export async function queries95(db: Db) {
  const one = await db.query.model95.findFirst({ where: eq(model95.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model95)
    .where(and(eq(model95.team95, "a"), gte(model95.score95, 1)))
    .orderBy(model95.score95)
    .limit(10);
  const some = await db.query.model95.findFirst({
    where: eq(model95.team95, "a"),
    orderBy: desc(model95.score95),
    columns: { id: true, score95: true },
    with: { children: true },
  });
  await db.update(model95).set({ name: "b" }).where(eq(model95.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score95, some?.children[0]?.note ?? "",
  ];
  return values;
}