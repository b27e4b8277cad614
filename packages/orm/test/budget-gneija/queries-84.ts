
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model84 } from "./model-84.js";
export async function queries84(db: Db) {
  const one = await db.query.model84.findFirst({ where: eq(model84.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model84)
    .where(and(eq(model84.team84, "a"), gte(model84.score84, 1)))
    .orderBy(model84.score84)
    .limit(10);
  const some = await db.query.model84.findFirst({
    where: eq(model84.team84, "a"),
    orderBy: desc(model84.score84),
    columns: { id: true, score84: true },
    with: { children: true },
  });
  await db.update(model84).set({ name: "b" }).where(eq(model84.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score84, some?.children[0]?.note ?? "",
  ];
  return values;
}