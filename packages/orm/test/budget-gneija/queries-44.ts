
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model44 } from "./model-44.js";
export async function queries44(db: Db) {
  const one = await db.query.model44.findFirst({ where: eq(model44.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model44)
    .where(and(eq(model44.team44, "a"), gte(model44.score44, 1)))
    .orderBy(model44.score44)
    .limit(10);
  const some = await db.query.model44.findFirst({
    where: eq(model44.team44, "a"),
    orderBy: desc(model44.score44),
    columns: { id: true, score44: true },
    with: { children: true },
  });
  await db.update(model44).set({ name: "b" }).where(eq(model44.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score44, some?.children[0]?.note ?? "",
  ];
  return values;
}