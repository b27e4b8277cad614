
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model12 } from "./model-12.js";
export async function queries12(db: Db) {
  const one = await db.query.model12.findFirst({ where: eq(model12.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model12)
    .where(and(eq(model12.team12, "a"), gte(model12.score12, 1)))
    .orderBy(model12.score12)
    .limit(10);
  const some = await db.query.model12.findFirst({
    where: eq(model12.team12, "a"),
    orderBy: desc(model12.score12),
    columns: { id: true, score12: true },
    with: { children: true },
  });
  await db.update(model12).set({ name: "b" }).where(eq(model12.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score12, some?.children[0]?.note ?? "",
  ];
  return values;
}