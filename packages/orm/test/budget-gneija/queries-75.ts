
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model75 } from "./model-75.js";
export async function queries75(db: Db) {
  const one = await db.query.model75.findFirst({ where: eq(model75.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model75)
    .where(and(eq(model75.team75, "a"), gte(model75.score75, 1)))
    .orderBy(model75.score75)
    .limit(10);
  const some = await db.query.model75.findFirst({
    where: eq(model75.team75, "a"),
    orderBy: desc(model75.score75),
    columns: { id: true, score75: true },
    with: { children: true },
  });
  await db.update(model75).set({ name: "b" }).where(eq(model75.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score75, some?.children[0]?.note ?? "",
  ];
  return values;
}