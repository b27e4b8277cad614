
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model9 } from "./model-9.js";
export async function queries9(db: Db) {
  const one = await db.query.model9.findFirst({ where: eq(model9.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model9)
    .where(and(eq(model9.team9, "a"), gte(model9.score9, 1)))
    .orderBy(model9.score9)
    .limit(10);
  const some = await db.query.model9.findFirst({
    where: eq(model9.team9, "a"),
    orderBy: desc(model9.score9),
    columns: { id: true, score9: true },
    with: { children: true },
  });
  await db.update(model9).set({ name: "b" }).where(eq(model9.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score9, some?.children[0]?.note ?? "",
  ];
  return values;
}