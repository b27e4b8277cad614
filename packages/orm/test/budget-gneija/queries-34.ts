
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model34 } from "./model-34.js";
export async function queries34(db: Db) {
  const one = await db.query.model34.findFirst({ where: eq(model34.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model34)
    .where(and(eq(model34.team34, "a"), gte(model34.score34, 1)))
    .orderBy(model34.score34)
    .limit(10);
  const some = await db.query.model34.findFirst({
    where: eq(model34.team34, "a"),
    orderBy: desc(model34.score34),
    columns: { id: true, score34: true },
    with: { children: true },
  });
  await db.update(model34).set({ name: "b" }).where(eq(model34.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score34, some?.children[0]?.note ?? "",
  ];
  return values;
}