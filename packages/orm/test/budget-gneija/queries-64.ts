
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model64 } from "./model-64.js";
export async function queries64(db: Db) {
  const one = await db.query.model64.findFirst({ where: eq(model64.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model64)
    .where(and(eq(model64.team64, "a"), gte(model64.score64, 1)))
    .orderBy(model64.score64)
    .limit(10);
  const some = await db.query.model64.findFirst({
    where: eq(model64.team64, "a"),
    orderBy: desc(model64.score64),
    columns: { id: true, score64: true },
    with: { children: true },
  });
  await db.update(model64).set({ name: "b" }).where(eq(model64.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score64, some?.children[0]?.note ?? "",
  ];
  return values;
}