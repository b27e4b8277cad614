
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model37 } from "./model-37.js";
export async function queries37(db: Db) {
  const one = await db.query.model37.findFirst({ where: eq(model37.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model37)
    .where(and(eq(model37.team37, "a"), gte(model37.score37, 1)))
    .orderBy(model37.score37)
    .limit(10);
  const some = await db.query.model37.findFirst({
    where: eq(model37.team37, "a"),
    orderBy: desc(model37.score37),
    columns: { id: true, score37: true },
    with: { children: true },
  });
  await db.update(model37).set({ name: "b" }).where(eq(model37.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score37, some?.children[0]?.note ?? "",
  ];
  return values;
}