
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model79 } from "./model-79.js";
export async function queries79(db: Db) {
  const one = await db.query.model79.findFirst({ where: eq(model79.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model79)
    .where(and(eq(model79.team79, "a"), gte(model79.score79, 1)))
    .orderBy(model79.score79)
    .limit(10);
  const some = await db.query.model79.findFirst({
    where: eq(model79.team79, "a"),
    orderBy: desc(model79.score79),
    columns: { id: true, score79: true },
    with: { children: true },
  });
  await db.update(model79).set({ name: "b" }).where(eq(model79.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score79, some?.children[0]?.note ?? "",
  ];
  return values;
}