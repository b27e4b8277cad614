
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model21 } from "./model-21.js";
export async function queries21(db: Db) {
  const one = await db.query.model21.findFirst({ where: eq(model21.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model21)
    .where(and(eq(model21.team21, "a"), gte(model21.score21, 1)))
    .orderBy(model21.score21)
    .limit(10);
  const some = await db.query.model21.findFirst({
    where: eq(model21.team21, "a"),
    orderBy: desc(model21.score21),
    columns: { id: true, score21: true },
    with: { children: true },
  });
  await db.update(model21).set({ name: "b" }).where(eq(model21.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score21, some?.children[0]?.note ?? "",
  ];
  return values;
}