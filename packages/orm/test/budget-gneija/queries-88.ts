
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model88 } from "./model-88.js";
export async function queries88(db: Db) {
  const one = await db.query.model88.findFirst({ where: eq(model88.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model88)
    .where(and(eq(model88.team88, "a"), gte(model88.score88, 1)))
    .orderBy(model88.score88)
    .limit(10);
  const some = await db.query.model88.findFirst({
    where: eq(model88.team88, "a"),
    orderBy: desc(model88.score88),
    columns: { id: true, score88: true },
    with: { children: true },
  });
  await db.update(model88).set({ name: "b" }).where(eq(model88.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score88, some?.children[0]?.note ?? "",
  ];
  return values;
}