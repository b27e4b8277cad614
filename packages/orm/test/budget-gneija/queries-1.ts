
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model1 } from "./model-1.js";
export async function queries1(db: Db) {
  const one = await db.query.model1.findFirst({ where: eq(model1.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model1)
    .where(and(eq(model1.team1, "a"), gte(model1.score1, 1)))
    .orderBy(model1.score1)
    .limit(10);
  const some = await db.query.model1.findFirst({
    where: eq(model1.team1, "a"),
    orderBy: desc(model1.score1),
    columns: { id: true, score1: true },
    with: { children: true },
  });
  await db.update(model1).set({ name: "b" }).where(eq(model1.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score1, some?.children[0]?.note ?? "",
  ];
  return values;
}