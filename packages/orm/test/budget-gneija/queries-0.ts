
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model0 } from "./model-0.js";
export async function queries0(db: Db) {
  const one = await db.query.model0.findFirst({ where: eq(model0.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model0)
    .where(and(eq(model0.team0, "a"), gte(model0.score0, 1)))
    .orderBy(model0.score0)
    .limit(10);
  const some = await db.query.model0.findFirst({
    where: eq(model0.team0, "a"),
    orderBy: desc(model0.score0),
    columns: { id: true, score0: true },
    with: { children: true },
  });
  await db.update(model0).set({ name: "b" }).where(eq(model0.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score0, some?.children[0]?.note ?? "",
  ];
  return values;
}