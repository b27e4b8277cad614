
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model55 } from "./model-55.js";
export async function queries55(db: Db) {
  const one = await db.query.model55.findFirst({ where: eq(model55.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model55)
    .where(and(eq(model55.team55, "a"), gte(model55.score55, 1)))
    .orderBy(model55.score55)
    .limit(10);
  const some = await db.query.model55.findFirst({
    where: eq(model55.team55, "a"),
    orderBy: desc(model55.score55),
    columns: { id: true, score55: true },
    with: { children: true },
  });
  await db.update(model55).set({ name: "b" }).where(eq(model55.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score55, some?.children[0]?.note ?? "",
  ];
  return values;
}