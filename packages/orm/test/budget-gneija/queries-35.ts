
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model35 } from "./model-35.js";
export async function queries35(db: Db) {
  const one = await db.query.model35.findFirst({ where: eq(model35.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model35)
    .where(and(eq(model35.team35, "a"), gte(model35.score35, 1)))
    .orderBy(model35.score35)
    .limit(10);
  const some = await db.query.model35.findFirst({
    where: eq(model35.team35, "a"),
    orderBy: desc(model35.score35),
    columns: { id: true, score35: true },
    with: { children: true },
  });
  await db.update(model35).set({ name: "b" }).where(eq(model35.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score35, some?.children[0]?.note ?? "",
  ];
  return values;
}