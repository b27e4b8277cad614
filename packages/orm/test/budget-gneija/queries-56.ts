
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model56 } from "./model-56.js";
export async function queries56(db: Db) {
  const one = await db.query.model56.findFirst({ where: eq(model56.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model56)
    .where(and(eq(model56.team56, "a"), gte(model56.score56, 1)))
    .orderBy(model56.score56)
    .limit(10);
  const some = await db.query.model56.findFirst({
    where: eq(model56.team56, "a"),
    orderBy: desc(model56.score56),
    columns: { id: true, score56: true },
    with: { children: true },
  });
  await db.update(model56).set({ name: "b" }).where(eq(model56.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score56, some?.children[0]?.note ?? "",
  ];
  return values;
}