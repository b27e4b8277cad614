
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model65 } from "./model-65.js";
export async function queries65(db: Db) {
  const one = await db.query.model65.findFirst({ where: eq(model65.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model65)
    .where(and(eq(model65.team65, "a"), gte(model65.score65, 1)))
    .orderBy(model65.score65)
    .limit(10);
  const some = await db.query.model65.findFirst({
    where: eq(model65.team65, "a"),
    orderBy: desc(model65.score65),
    columns: { id: true, score65: true },
    with: { children: true },
  });
  await db.update(model65).set({ name: "b" }).where(eq(model65.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score65, some?.children[0]?.note ?? "",
  ];
  return values;
}