
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model77 } from "./model-77.js";
export async function queries77(db: Db) {
  const one = await db.query.model77.findFirst({ where: eq(model77.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model77)
    .where(and(eq(model77.team77, "a"), gte(model77.score77, 1)))
    .orderBy(model77.score77)
    .limit(10);
  const some = await db.query.model77.findFirst({
    where: eq(model77.team77, "a"),
    orderBy: desc(model77.score77),
    columns: { id: true, score77: true },
    with: { children: true },
  });
  await db.update(model77).set({ name: "b" }).where(eq(model77.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score77, some?.children[0]?.note ?? "",
  ];
  return values;
}