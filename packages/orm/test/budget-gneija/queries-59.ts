
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model59 } from "./model-59.js";
export async function queries59(db: Db) {
  const one = await db.query.model59.findFirst({ where: eq(model59.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model59)
    .where(and(eq(model59.team59, "a"), gte(model59.score59, 1)))
    .orderBy(model59.score59)
    .limit(10);
  const some = await db.query.model59.findFirst({
    where: eq(model59.team59, "a"),
    orderBy: desc(model59.score59),
    columns: { id: true, score59: true },
    with: { children: true },
  });
  await db.update(model59).set({ name: "b" }).where(eq(model59.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score59, some?.children[0]?.note ?? "",
  ];
  return values;
}