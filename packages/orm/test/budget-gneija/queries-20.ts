
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model20 } from "./model-20.js";
export async function queries20(db: Db) {
  const one = await db.query.model20.findFirst({ where: eq(model20.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model20)
    .where(and(eq(model20.team20, "a"), gte(model20.score20, 1)))
    .orderBy(model20.score20)
    .limit(10);
  const some = await db.query.model20.findFirst({
    where: eq(model20.team20, "a"),
    orderBy: desc(model20.score20),
    columns: { id: true, score20: true },
    with: { children: true },
  });
  await db.update(model20).set({ name: "b" }).where(eq(model20.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score20, some?.children[0]?.note ?? "",
  ];
  return values;
}