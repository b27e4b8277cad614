
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model39 } from "./model-39.js";
export async function queries39(db: Db) {
  const one = await db.query.model39.findFirst({ where: eq(model39.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model39)
    .where(and(eq(model39.team39, "a"), gte(model39.score39, 1)))
    .orderBy(model39.score39)
    .limit(10);
  const some = await db.query.model39.findFirst({
    where: eq(model39.team39, "a"),
    orderBy: desc(model39.score39),
    columns: { id: true, score39: true },
    with: { children: true },
  });
  await db.update(model39).set({ name: "b" }).where(eq(model39.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score39, some?.children[0]?.note ?? "",
  ];
  return values;
}