
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model61 } from "./model-61.js";
export async function queries61(db: Db) {
  const one = await db.query.model61.findFirst({ where: eq(model61.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model61)
    .where(and(eq(model61.team61, "a"), gte(model61.score61, 1)))
    .orderBy(model61.score61)
    .limit(10);
  const some = await db.query.model61.findFirst({
    where: eq(model61.team61, "a"),
    orderBy: desc(model61.score61),
    columns: { id: true, score61: true },
    with: { children: true },
  });
  await db.update(model61).set({ name: "b" }).where(eq(model61.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score61, some?.children[0]?.note ?? "",
  ];
  return values;
}