
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model53 } from "./model-53.js";
export async function queries53(db: Db) {
  const one = await db.query.model53.findFirst({ where: eq(model53.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model53)
    .where(and(eq(model53.team53, "a"), gte(model53.score53, 1)))
    .orderBy(model53.score53)
    .limit(10);
  const some = await db.query.model53.findFirst({
    where: eq(model53.team53, "a"),
    orderBy: desc(model53.score53),
    columns: { id: true, score53: true },
    with: { children: true },
  });
  await db.update(model53).set({ name: "b" }).where(eq(model53.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score53, some?.children[0]?.note ?? "",
  ];
  return values;
}