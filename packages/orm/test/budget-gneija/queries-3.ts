
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model3 } from "./model-3.js";
export async function queries3(db: Db) {
  const one = await db.query.model3.findFirst({ where: eq(model3.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model3)
    .where(and(eq(model3.team3, "a"), gte(model3.score3, 1)))
    .orderBy(model3.score3)
    .limit(10);
  const some = await db.query.model3.findFirst({
    where: eq(model3.team3, "a"),
    orderBy: desc(model3.score3),
    columns: { id: true, score3: true },
    with: { children: true },
  });
  await db.update(model3).set({ name: "b" }).where(eq(model3.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score3, some?.children[0]?.note ?? "",
  ];
  return values;
}