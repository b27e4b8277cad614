
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model74 } from "./model-74.js";
export async function queries74(db: Db) {
  const one = await db.query.model74.findFirst({ where: eq(model74.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model74)
    .where(and(eq(model74.team74, "a"), gte(model74.score74, 1)))
    .orderBy(model74.score74)
    .limit(10);
  const some = await db.query.model74.findFirst({
    where: eq(model74.team74, "a"),
    orderBy: desc(model74.score74),
    columns: { id: true, score74: true },
    with: { children: true },
  });
  await db.update(model74).set({ name: "b" }).where(eq(model74.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score74, some?.children[0]?.note ?? "",
  ];
  return values;
}