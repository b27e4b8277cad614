
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model72 } from "./model-72.js";
export async function queries72(db: Db) {
  const one = await db.query.model72.findFirst({ where: eq(model72.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model72)
    .where(and(eq(model72.team72, "a"), gte(model72.score72, 1)))
    .orderBy(model72.score72)
    .limit(10);
  const some = await db.query.model72.findFirst({
    where: eq(model72.team72, "a"),
    orderBy: desc(model72.score72),
    columns: { id: true, score72: true },
    with: { children: true },
  });
  await db.update(model72).set({ name: "b" }).where(eq(model72.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score72, some?.children[0]?.note ?? "",
  ];
  return values;
}