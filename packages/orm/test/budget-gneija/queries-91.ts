
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model91 } from "./model-91.js";
export async function queries91(db: Db) {
  const one = await db.query.model91.findFirst({ where: eq(model91.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model91)
    .where(and(eq(model91.team91, "a"), gte(model91.score91, 1)))
    .orderBy(model91.score91)
    .limit(10);
  const some = await db.query.model91.findFirst({
    where: eq(model91.team91, "a"),
    orderBy: desc(model91.score91),
    columns: { id: true, score91: true },
    with: { children: true },
  });
  await db.update(model91).set({ name: "b" }).where(eq(model91.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score91, some?.children[0]?.note ?? "",
  ];
  return values;
}