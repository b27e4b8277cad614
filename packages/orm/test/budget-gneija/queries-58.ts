
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model58 } from "./model-58.js";
export async function queries58(db: Db) {
  const one = await db.query.model58.findFirst({ where: eq(model58.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model58)
    .where(and(eq(model58.team58, "a"), gte(model58.score58, 1)))
    .orderBy(model58.score58)
    .limit(10);
  const some = await db.query.model58.findFirst({
    where: eq(model58.team58, "a"),
    orderBy: desc(model58.score58),
    columns: { id: true, score58: true },
    with: { children: true },
  });
  await db.update(model58).set({ name: "b" }).where(eq(model58.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score58, some?.children[0]?.note ?? "",
  ];
  return values;
}