
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model18 } from "./model-18.js";
export async function queries18(db: Db) {
  const one = await db.query.model18.findFirst({ where: eq(model18.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model18)
    .where(and(eq(model18.team18, "a"), gte(model18.score18, 1)))
    .orderBy(model18.score18)
    .limit(10);
  const some = await db.query.model18.findFirst({
    where: eq(model18.team18, "a"),
    orderBy: desc(model18.score18),
    columns: { id: true, score18: true },
    with: { children: true },
  });
  await db.update(model18).set({ name: "b" }).where(eq(model18.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score18, some?.children[0]?.note ?? "",
  ];
  return values;
}