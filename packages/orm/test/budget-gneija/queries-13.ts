
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model13 } from "./model-13.js";
export async function queries13(db: Db) {
  const one = await db.query.model13.findFirst({ where: eq(model13.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model13)
    .where(and(eq(model13.team13, "a"), gte(model13.score13, 1)))
    .orderBy(model13.score13)
    .limit(10);
  const some = await db.query.model13.findFirst({
    where: eq(model13.team13, "a"),
    orderBy: desc(model13.score13),
    columns: { id: true, score13: true },
    with: { children: true },
  });
  await db.update(model13).set({ name: "b" }).where(eq(model13.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score13, some?.children[0]?.note ?? "",
  ];
  return values;
}