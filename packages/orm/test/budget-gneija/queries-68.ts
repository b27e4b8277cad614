
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model68 } from "./model-68.js";
export async function queries68(db: Db) {
  const one = await db.query.model68.findFirst({ where: eq(model68.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model68)
    .where(and(eq(model68.team68, "a"), gte(model68.score68, 1)))
    .orderBy(model68.score68)
    .limit(10);
  const some = await db.query.model68.findFirst({
    where: eq(model68.team68, "a"),
    orderBy: desc(model68.score68),
    columns: { id: true, score68: true },
    with: { children: true },
  });
  await db.update(model68).set({ name: "b" }).where(eq(model68.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score68, some?.children[0]?.note ?? "",
  ];
  return values;
}