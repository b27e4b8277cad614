
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model40 } from "./model-40.js";
export async function queries40(db: Db) {
  const one = await db.query.model40.findFirst({ where: eq(model40.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model40)
    .where(and(eq(model40.team40, "a"), gte(model40.score40, 1)))
    .orderBy(model40.score40)
    .limit(10);
  const some = await db.query.model40.findFirst({
    where: eq(model40.team40, "a"),
    orderBy: desc(model40.score40),
    columns: { id: true, score40: true },
    with: { children: true },
  });
  await db.update(model40).set({ name: "b" }).where(eq(model40.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score40, some?.children[0]?.note ?? "",
  ];
  return values;
}