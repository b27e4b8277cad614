
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model86 } from "./model-86.js";
export async function queries86(db: Db) {
  const one = await db.query.model86.findFirst({ where: eq(model86.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model86)
    .where(and(eq(model86.team86, "a"), gte(model86.score86, 1)))
    .orderBy(model86.score86)
    .limit(10);
  const some = await db.query.model86.findFirst({
    where: eq(model86.team86, "a"),
    orderBy: desc(model86.score86),
    columns: { id: true, score86: true },
    with: { children: true },
  });
  await db.update(model86).set({ name: "b" }).where(eq(model86.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score86, some?.children[0]?.note ?? "",
  ];
  return values;
}