
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model87 } from "./model-87.js";
export async function queries87(db: Db) {
  const one = await db.query.model87.findFirst({ where: eq(model87.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model87)
    .where(and(eq(model87.team87, "a"), gte(model87.score87, 1)))
    .orderBy(model87.score87)
    .limit(10);
  const some = await db.query.model87.findFirst({
    where: eq(model87.team87, "a"),
    orderBy: desc(model87.score87),
    columns: { id: true, score87: true },
    with: { children: true },
  });
  await db.update(model87).set({ name: "b" }).where(eq(model87.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score87, some?.children[0]?.note ?? "",
  ];
  return values;
}