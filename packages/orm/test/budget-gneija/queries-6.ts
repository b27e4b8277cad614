
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model6 } from "./model-6.js";
export async function queries6(db: Db) {
  const one = await db.query.model6.findFirst({ where: eq(model6.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model6)
    .where(and(eq(model6.team6, "a"), gte(model6.score6, 1)))
    .orderBy(model6.score6)
    .limit(10);
  const some = await db.query.model6.findFirst({
    where: eq(model6.team6, "a"),
    orderBy: desc(model6.score6),
    columns: { id: true, score6: true },
    with: { children: true },
  });
  await db.update(model6).set({ name: "b" }).where(eq(model6.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score6, some?.children[0]?.note ?? "",
  ];
  return values;
}