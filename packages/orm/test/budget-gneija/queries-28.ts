
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model28 } from "./model-28.js";
export async function queries28(db: Db) {
  const one = await db.query.model28.findFirst({ where: eq(model28.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model28)
    .where(and(eq(model28.team28, "a"), gte(model28.score28, 1)))
    .orderBy(model28.score28)
    .limit(10);
  const some = await db.query.model28.findFirst({
    where: eq(model28.team28, "a"),
    orderBy: desc(model28.score28),
    columns: { id: true, score28: true },
    with: { children: true },
  });
  await db.update(model28).set({ name: "b" }).where(eq(model28.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score28, some?.children[0]?.note ?? "",
  ];
  return values;
}