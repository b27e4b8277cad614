
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model10 } from "./model-10.js";
export async function queries10(db: Db) {
  const one = await db.query.model10.findFirst({ where: eq(model10.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model10)
    .where(and(eq(model10.team10, "a"), gte(model10.score10, 1)))
    .orderBy(model10.score10)
    .limit(10);
  const some = await db.query.model10.findFirst({
    where: eq(model10.team10, "a"),
    orderBy: desc(model10.score10),
    columns: { id: true, score10: true },
    with: { children: true },
  });
  await db.update(model10).set({ name: "b" }).where(eq(model10.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score10, some?.children[0]?.note ?? "",
  ];
  return values;
}