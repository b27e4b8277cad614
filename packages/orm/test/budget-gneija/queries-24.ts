
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model24 } from "./model-24.js";
export async function queries24(db: Db) {
  const one = await db.query.model24.findFirst({ where: eq(model24.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model24)
    .where(and(eq(model24.team24, "a"), gte(model24.score24, 1)))
    .orderBy(model24.score24)
    .limit(10);
  const some = await db.query.model24.findFirst({
    where: eq(model24.team24, "a"),
    orderBy: desc(model24.score24),
    columns: { id: true, score24: true },
    with: { children: true },
  });
  await db.update(model24).set({ name: "b" }).where(eq(model24.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score24, some?.children[0]?.note ?? "",
  ];
  return values;
}