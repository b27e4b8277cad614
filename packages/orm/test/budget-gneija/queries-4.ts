
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model4 } from "./model-4.js";
export async function queries4(db: Db) {
  const one = await db.query.model4.findFirst({ where: eq(model4.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model4)
    .where(and(eq(model4.team4, "a"), gte(model4.score4, 1)))
    .orderBy(model4.score4)
    .limit(10);
  const some = await db.query.model4.findFirst({
    where: eq(model4.team4, "a"),
    orderBy: desc(model4.score4),
    columns: { id: true, score4: true },
    with: { children: true },
  });
  await db.update(model4).set({ name: "b" }).where(eq(model4.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score4, some?.children[0]?.note ?? "",
  ];
  return values;
}