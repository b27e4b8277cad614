
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model42 } from "./model-42.js";
export async function queries42(db: Db) {
  const one = await db.query.model42.findFirst({ where: eq(model42.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model42)
    .where(and(eq(model42.team42, "a"), gte(model42.score42, 1)))
    .orderBy(model42.score42)
    .limit(10);
  const some = await db.query.model42.findFirst({
    where: eq(model42.team42, "a"),
    orderBy: desc(model42.score42),
    columns: { id: true, score42: true },
    with: { children: true },
  });
  await db.update(model42).set({ name: "b" }).where(eq(model42.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score42, some?.children[0]?.note ?? "",
  ];
  return values;
}