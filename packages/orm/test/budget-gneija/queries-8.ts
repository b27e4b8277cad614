
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model8 } from "./model-8.js";
export async function queries8(db: Db) {
  const one = await db.query.model8.findFirst({ where: eq(model8.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model8)
    .where(and(eq(model8.team8, "a"), gte(model8.score8, 1)))
    .orderBy(model8.score8)
    .limit(10);
  const some = await db.query.model8.findFirst({
    where: eq(model8.team8, "a"),
    orderBy: desc(model8.score8),
    columns: { id: true, score8: true },
    with: { children: true },
  });
  await db.update(model8).set({ name: "b" }).where(eq(model8.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score8, some?.children[0]?.note ?? "",
  ];
  return values;
}