
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model93 } from "./model-93.js";
export async function queries93(db: Db) {
  const one = await db.query.model93.findFirst({ where: eq(model93.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model93)
    .where(and(eq(model93.team93, "a"), gte(model93.score93, 1)))
    .orderBy(model93.score93)
    .limit(10);
  const some = await db.query.model93.findFirst({
    where: eq(model93.team93, "a"),
    orderBy: desc(model93.score93),
    columns: { id: true, score93: true },
    with: { children: true },
  });
  await db.update(model93).set({ name: "b" }).where(eq(model93.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score93, some?.children[0]?.note ?? "",
  ];
  return values;
}