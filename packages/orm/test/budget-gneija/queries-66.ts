
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model66 } from "./model-66.js";
export async function queries66(db: Db) {
  const one = await db.query.model66.findFirst({ where: eq(model66.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model66)
    .where(and(eq(model66.team66, "a"), gte(model66.score66, 1)))
    .orderBy(model66.score66)
    .limit(10);
  const some = await db.query.model66.findFirst({
    where: eq(model66.team66, "a"),
    orderBy: desc(model66.score66),
    columns: { id: true, score66: true },
    with: { children: true },
  });
  await db.update(model66).set({ name: "b" }).where(eq(model66.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score66, some?.children[0]?.note ?? "",
  ];
  return values;
}