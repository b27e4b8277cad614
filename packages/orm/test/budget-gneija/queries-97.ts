
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model97 } from "./model-97.js";
export async function queries97(db: Db) {
  const one = await db.query.model97.findFirst({ where: eq(model97.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model97)
    .where(and(eq(model97.team97, "a"), gte(model97.score97, 1)))
    .orderBy(model97.score97)
    .limit(10);
  const some = await db.query.model97.findFirst({
    where: eq(model97.team97, "a"),
    orderBy: desc(model97.score97),
    columns: { id: true, score97: true },
    with: { children: true },
  });
  await db.update(model97).set({ name: "b" }).where(eq(model97.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score97, some?.children[0]?.note ?? "",
  ];
  return values;
}