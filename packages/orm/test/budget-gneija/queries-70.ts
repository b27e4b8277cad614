
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model70 } from "./model-70.js";
export async function queries70(db: Db) {
  const one = await db.query.model70.findFirst({ where: eq(model70.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model70)
    .where(and(eq(model70.team70, "a"), gte(model70.score70, 1)))
    .orderBy(model70.score70)
    .limit(10);
  const some = await db.query.model70.findFirst({
    where: eq(model70.team70, "a"),
    orderBy: desc(model70.score70),
    columns: { id: true, score70: true },
    with: { children: true },
  });
  await db.update(model70).set({ name: "b" }).where(eq(model70.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score70, some?.children[0]?.note ?? "",
  ];
  return values;
}