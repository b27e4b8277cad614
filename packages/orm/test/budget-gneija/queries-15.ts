
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model15 } from "./model-15.js";
export async function queries15(db: Db) {
  const one = await db.query.model15.findFirst({ where: eq(model15.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model15)
    .where(and(eq(model15.team15, "a"), gte(model15.score15, 1)))
    .orderBy(model15.score15)
    .limit(10);
  const some = await db.query.model15.findFirst({
    where: eq(model15.team15, "a"),
    orderBy: desc(model15.score15),
    columns: { id: true, score15: true },
    with: { children: true },
  });
  await db.update(model15).set({ name: "b" }).where(eq(model15.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score15, some?.children[0]?.note ?? "",
  ];
  return values;
}