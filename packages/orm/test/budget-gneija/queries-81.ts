
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model81 } from "./model-81.js";
export async function queries81(db: Db) {
  const one = await db.query.model81.findFirst({ where: eq(model81.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model81)
    .where(and(eq(model81.team81, "a"), gte(model81.score81, 1)))
    .orderBy(model81.score81)
    .limit(10);
  const some = await db.query.model81.findFirst({
    where: eq(model81.team81, "a"),
    orderBy: desc(model81.score81),
    columns: { id: true, score81: true },
    with: { children: true },
  });
  await db.update(model81).set({ name: "b" }).where(eq(model81.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score81, some?.children[0]?.note ?? "",
  ];
  return values;
}