
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model5 } from "./model-5.js";
export async function queries5(db: Db) {
  const one = await db.query.model5.findFirst({ where: eq(model5.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model5)
    .where(and(eq(model5.team5, "a"), gte(model5.score5, 1)))
    .orderBy(model5.score5)
    .limit(10);
  const some = await db.query.model5.findFirst({
    where: eq(model5.team5, "a"),
    orderBy: desc(model5.score5),
    columns: { id: true, score5: true },
    with: { children: true },
  });
  await db.update(model5).set({ name: "b" }).where(eq(model5.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score5, some?.children[0]?.note ?? "",
  ];
  return values;
}