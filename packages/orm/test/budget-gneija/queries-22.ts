
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model22 } from "./model-22.js";
export async function queries22(db: Db) {
  const one = await db.query.model22.findFirst({ where: eq(model22.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model22)
    .where(and(eq(model22.team22, "a"), gte(model22.score22, 1)))
    .orderBy(model22.score22)
    .limit(10);
  const some = await db.query.model22.findFirst({
    where: eq(model22.team22, "a"),
    orderBy: desc(model22.score22),
    columns: { id: true, score22: true },
    with: { children: true },
  });
  await db.update(model22).set({ name: "b" }).where(eq(model22.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score22, some?.children[0]?.note ?? "",
  ];
  return values;
}