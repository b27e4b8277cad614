
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model30 } from "./model-30.js";
export async function queries30(db: Db) {
  const one = await db.query.model30.findFirst({ where: eq(model30.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model30)
    .where(and(eq(model30.team30, "a"), gte(model30.score30, 1)))
    .orderBy(model30.score30)
    .limit(10);
  const some = await db.query.model30.findFirst({
    where: eq(model30.team30, "a"),
    orderBy: desc(model30.score30),
    columns: { id: true, score30: true },
    with: { children: true },
  });
  await db.update(model30).set({ name: "b" }).where(eq(model30.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score30, some?.children[0]?.note ?? "",
  ];
  return values;
}