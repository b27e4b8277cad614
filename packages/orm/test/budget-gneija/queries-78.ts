
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model78 } from "./model-78.js";
export async function queries78(db: Db) {
  const one = await db.query.model78.findFirst({ where: eq(model78.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model78)
    .where(and(eq(model78.team78, "a"), gte(model78.score78, 1)))
    .orderBy(model78.score78)
    .limit(10);
  const some = await db.query.model78.findFirst({
    where: eq(model78.team78, "a"),
    orderBy: desc(model78.score78),
    columns: { id: true, score78: true },
    with: { children: true },
  });
  await db.update(model78).set({ name: "b" }).where(eq(model78.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score78, some?.children[0]?.note ?? "",
  ];
  return values;
}