
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model2 } from "./model-2.js";
export async function queries2(db: Db) {
  const one = await db.query.model2.findFirst({ where: eq(model2.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model2)
    .where(and(eq(model2.team2, "a"), gte(model2.score2, 1)))
    .orderBy(model2.score2)
    .limit(10);
  const some = await db.query.model2.findFirst({
    where: eq(model2.team2, "a"),
    orderBy: desc(model2.score2),
    columns: { id: true, score2: true },
    with: { children: true },
  });
  await db.update(model2).set({ name: "b" }).where(eq(model2.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score2, some?.children[0]?.note ?? "",
  ];
  return values;
}