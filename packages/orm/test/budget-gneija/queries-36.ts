
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model36 } from "./model-36.js";
export async function queries36(db: Db) {
  const one = await db.query.model36.findFirst({ where: eq(model36.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model36)
    .where(and(eq(model36.team36, "a"), gte(model36.score36, 1)))
    .orderBy(model36.score36)
    .limit(10);
  const some = await db.query.model36.findFirst({
    where: eq(model36.team36, "a"),
    orderBy: desc(model36.score36),
    columns: { id: true, score36: true },
    with: { children: true },
  });
  await db.update(model36).set({ name: "b" }).where(eq(model36.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score36, some?.children[0]?.note ?? "",
  ];
  return values;
}