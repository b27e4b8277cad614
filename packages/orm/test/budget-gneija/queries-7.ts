
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model7 } from "./model-7.js";
export async function queries7(db: Db) {
  const one = await db.query.model7.findFirst({ where: eq(model7.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model7)
    .where(and(eq(model7.team7, "a"), gte(model7.score7, 1)))
    .orderBy(model7.score7)
    .limit(10);
  const some = await db.query.model7.findFirst({
    where: eq(model7.team7, "a"),
    orderBy: desc(model7.score7),
    columns: { id: true, score7: true },
    with: { children: true },
  });
  await db.update(model7).set({ name: "b" }).where(eq(model7.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score7, some?.children[0]?.note ?? "",
  ];
  return values;
}