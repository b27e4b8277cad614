
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model16 } from "./model-16.js";
export async function queries16(db: Db) {
  const one = await db.query.model16.findFirst({ where: eq(model16.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model16)
    .where(and(eq(model16.team16, "a"), gte(model16.score16, 1)))
    .orderBy(model16.score16)
    .limit(10);
  const some = await db.query.model16.findFirst({
    where: eq(model16.team16, "a"),
    orderBy: desc(model16.score16),
    columns: { id: true, score16: true },
    with: { children: true },
  });
  await db.update(model16).set({ name: "b" }).where(eq(model16.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score16, some?.children[0]?.note ?? "",
  ];
  return values;
}