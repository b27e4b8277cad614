
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model26 } from "./model-26.js";
export async function queries26(db: Db) {
  const one = await db.query.model26.findFirst({ where: eq(model26.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model26)
    .where(and(eq(model26.team26, "a"), gte(model26.score26, 1)))
    .orderBy(model26.score26)
    .limit(10);
  const some = await db.query.model26.findFirst({
    where: eq(model26.team26, "a"),
    orderBy: desc(model26.score26),
    columns: { id: true, score26: true },
    with: { children: true },
  });
  await db.update(model26).set({ name: "b" }).where(eq(model26.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score26, some?.children[0]?.note ?? "",
  ];
  return values;
}