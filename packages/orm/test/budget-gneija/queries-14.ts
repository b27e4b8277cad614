
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model14 } from "./model-14.js";
export async function queries14(db: Db) {
  const one = await db.query.model14.findFirst({ where: eq(model14.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model14)
    .where(and(eq(model14.team14, "a"), gte(model14.score14, 1)))
    .orderBy(model14.score14)
    .limit(10);
  const some = await db.query.model14.findFirst({
    where: eq(model14.team14, "a"),
    orderBy: desc(model14.score14),
    columns: { id: true, score14: true },
    with: { children: true },
  });
  await db.update(model14).set({ name: "b" }).where(eq(model14.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score14, some?.children[0]?.note ?? "",
  ];
  return values;
}