
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model73 } from "./model-73.js";
export async function queries73(db: Db) {
  const one = await db.query.model73.findFirst({ where: eq(model73.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model73)
    .where(and(eq(model73.team73, "a"), gte(model73.score73, 1)))
    .orderBy(model73.score73)
    .limit(10);
  const some = await db.query.model73.findFirst({
    where: eq(model73.team73, "a"),
    orderBy: desc(model73.score73),
    columns: { id: true, score73: true },
    with: { children: true },
  });
  await db.update(model73).set({ name: "b" }).where(eq(model73.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score73, some?.children[0]?.note ?? "",
  ];
  return values;
}