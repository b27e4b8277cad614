
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model99 } from "./model-99.js";
export async function queries99(db: Db) {
  const one = await db.query.model99.findFirst({ where: eq(model99.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model99)
    .where(and(eq(model99.team99, "a"), gte(model99.score99, 1)))
    .orderBy(model99.score99)
    .limit(10);
  const some = await db.query.model99.findFirst({
    where: eq(model99.team99, "a"),
    orderBy: desc(model99.score99),
    columns: { id: true, score99: true },
    with: { children: true },
  });
  await db.update(model99).set({ name: "b" }).where(eq(model99.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score99, some?.children[0]?.note ?? "",
  ];
  return values;
}