
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model85 } from "./model-85.js";
export async function queries85(db: Db) {
  const one = await db.query.model85.findFirst({ where: eq(model85.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model85)
    .where(and(eq(model85.team85, "a"), gte(model85.score85, 1)))
    .orderBy(model85.score85)
    .limit(10);
  const some = await db.query.model85.findFirst({
    where: eq(model85.team85, "a"),
    orderBy: desc(model85.score85),
    columns: { id: true, score85: true },
    with: { children: true },
  });
  await db.update(model85).set({ name: "b" }).where(eq(model85.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score85, some?.children[0]?.note ?? "",
  ];
  return values;
}