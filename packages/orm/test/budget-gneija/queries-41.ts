
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model41 } from "./model-41.js";
export async function queries41(db: Db) {
  const one = await db.query.model41.findFirst({ where: eq(model41.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model41)
    .where(and(eq(model41.team41, "a"), gte(model41.score41, 1)))
    .orderBy(model41.score41)
    .limit(10);
  const some = await db.query.model41.findFirst({
    where: eq(model41.team41, "a"),
    orderBy: desc(model41.score41),
    columns: { id: true, score41: true },
    with: { children: true },
  });
  await db.update(model41).set({ name: "b" }).where(eq(model41.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score41, some?.children[0]?.note ?? "",
  ];
  return values;
}