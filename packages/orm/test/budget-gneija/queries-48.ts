
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model48 } from "./model-48.js";
export async function queries48(db: Db) {
  const one = await db.query.model48.findFirst({ where: eq(model48.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model48)
    .where(and(eq(model48.team48, "a"), gte(model48.score48, 1)))
    .orderBy(model48.score48)
    .limit(10);
  const some = await db.query.model48.findFirst({
    where: eq(model48.team48, "a"),
    orderBy: desc(model48.score48),
    columns: { id: true, score48: true },
    with: { children: true },
  });
  await db.update(model48).set({ name: "b" }).where(eq(model48.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score48, some?.children[0]?.note ?? "",
  ];
  return values;
}