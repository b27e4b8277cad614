
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model25 } from "./model-25.js";
export async function queries25(db: Db) {
  const one = await db.query.model25.findFirst({ where: eq(model25.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model25)
    .where(and(eq(model25.team25, "a"), gte(model25.score25, 1)))
    .orderBy(model25.score25)
    .limit(10);
  const some = await db.query.model25.findFirst({
    where: eq(model25.team25, "a"),
    orderBy: desc(model25.score25),
    columns: { id: true, score25: true },
    with: { children: true },
  });
  await db.update(model25).set({ name: "b" }).where(eq(model25.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score25, some?.children[0]?.note ?? "",
  ];
  return values;
}