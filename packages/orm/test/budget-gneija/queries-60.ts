
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model60 } from "./model-60.js";
export async function queries60(db: Db) {
  const one = await db.query.model60.findFirst({ where: eq(model60.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model60)
    .where(and(eq(model60.team60, "a"), gte(model60.score60, 1)))
    .orderBy(model60.score60)
    .limit(10);
  const some = await db.query.model60.findFirst({
    where: eq(model60.team60, "a"),
    orderBy: desc(model60.score60),
    columns: { id: true, score60: true },
    with: { children: true },
  });
  await db.update(model60).set({ name: "b" }).where(eq(model60.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score60, some?.children[0]?.note ?? "",
  ];
  return values;
}