
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model62 } from "./model-62.js";
export async function queries62(db: Db) {
  const one = await db.query.model62.findFirst({ where: eq(model62.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model62)
    .where(and(eq(model62.team62, "a"), gte(model62.score62, 1)))
    .orderBy(model62.score62)
    .limit(10);
  const some = await db.query.model62.findFirst({
    where: eq(model62.team62, "a"),
    orderBy: desc(model62.score62),
    columns: { id: true, score62: true },
    with: { children: true },
  });
  await db.update(model62).set({ name: "b" }).where(eq(model62.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score62, some?.children[0]?.note ?? "",
  ];
  return values;
}