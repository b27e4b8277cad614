
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model90 } from "./model-90.js";
export async function queries90(db: Db) {
  const one = await db.query.model90.findFirst({ where: eq(model90.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model90)
    .where(and(eq(model90.team90, "a"), gte(model90.score90, 1)))
    .orderBy(model90.score90)
    .limit(10);
  const some = await db.query.model90.findFirst({
    where: eq(model90.team90, "a"),
    orderBy: desc(model90.score90),
    columns: { id: true, score90: true },
    with: { children: true },
  });
  await db.update(model90).set({ name: "b" }).where(eq(model90.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score90, some?.children[0]?.note ?? "",
  ];
  return values;
}