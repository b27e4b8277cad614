
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model57 } from "./model-57.js";
export async function queries57(db: Db) {
  const one = await db.query.model57.findFirst({ where: eq(model57.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model57)
    .where(and(eq(model57.team57, "a"), gte(model57.score57, 1)))
    .orderBy(model57.score57)
    .limit(10);
  const some = await db.query.model57.findFirst({
    where: eq(model57.team57, "a"),
    orderBy: desc(model57.score57),
    columns: { id: true, score57: true },
    with: { children: true },
  });
  await db.update(model57).set({ name: "b" }).where(eq(model57.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score57, some?.children[0]?.note ?? "",
  ];
  return values;
}