
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model33 } from "./model-33.js";
export async function queries33(db: Db) {
  const one = await db.query.model33.findFirst({ where: eq(model33.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model33)
    .where(and(eq(model33.team33, "a"), gte(model33.score33, 1)))
    .orderBy(model33.score33)
    .limit(10);
  const some = await db.query.model33.findFirst({
    where: eq(model33.team33, "a"),
    orderBy: desc(model33.score33),
    columns: { id: true, score33: true },
    with: { children: true },
  });
  await db.update(model33).set({ name: "b" }).where(eq(model33.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score33, some?.children[0]?.note ?? "",
  ];
  return values;
}