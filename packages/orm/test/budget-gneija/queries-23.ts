
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model23 } from "./model-23.js";
export async function queries23(db: Db) {
  const one = await db.query.model23.findFirst({ where: eq(model23.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model23)
    .where(and(eq(model23.team23, "a"), gte(model23.score23, 1)))
    .orderBy(model23.score23)
    .limit(10);
  const some = await db.query.model23.findFirst({
    where: eq(model23.team23, "a"),
    orderBy: desc(model23.score23),
    columns: { id: true, score23: true },
    with: { children: true },
  });
  await db.update(model23).set({ name: "b" }).where(eq(model23.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score23, some?.children[0]?.note ?? "",
  ];
  return values;
}