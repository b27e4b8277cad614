
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model50 } from "./model-50.js";
export async function queries50(db: Db) {
  const one = await db.query.model50.findFirst({ where: eq(model50.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model50)
    .where(and(eq(model50.team50, "a"), gte(model50.score50, 1)))
    .orderBy(model50.score50)
    .limit(10);
  const some = await db.query.model50.findFirst({
    where: eq(model50.team50, "a"),
    orderBy: desc(model50.score50),
    columns: { id: true, score50: true },
    with: { children: true },
  });
  await db.update(model50).set({ name: "b" }).where(eq(model50.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score50, some?.children[0]?.note ?? "",
  ];
  return values;
}