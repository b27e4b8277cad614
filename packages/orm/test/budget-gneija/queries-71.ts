
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model71 } from "./model-71.js";
export async function queries71(db: Db) {
  const one = await db.query.model71.findFirst({ where: eq(model71.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model71)
    .where(and(eq(model71.team71, "a"), gte(model71.score71, 1)))
    .orderBy(model71.score71)
    .limit(10);
  const some = await db.query.model71.findFirst({
    where: eq(model71.team71, "a"),
    orderBy: desc(model71.score71),
    columns: { id: true, score71: true },
    with: { children: true },
  });
  await db.update(model71).set({ name: "b" }).where(eq(model71.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score71, some?.children[0]?.note ?? "",
  ];
  return values;
}