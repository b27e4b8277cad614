
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model38 } from "./model-38.js";
export async function queries38(db: Db) {
  const one = await db.query.model38.findFirst({ where: eq(model38.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model38)
    .where(and(eq(model38.team38, "a"), gte(model38.score38, 1)))
    .orderBy(model38.score38)
    .limit(10);
  const some = await db.query.model38.findFirst({
    where: eq(model38.team38, "a"),
    orderBy: desc(model38.score38),
    columns: { id: true, score38: true },
    with: { children: true },
  });
  await db.update(model38).set({ name: "b" }).where(eq(model38.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score38, some?.children[0]?.note ?? "",
  ];
  return values;
}