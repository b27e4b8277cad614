
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model83 } from "./model-83.js";
export async function queries83(db: Db) {
  const one = await db.query.model83.findFirst({ where: eq(model83.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model83)
    .where(and(eq(model83.team83, "a"), gte(model83.score83, 1)))
    .orderBy(model83.score83)
    .limit(10);
  const some = await db.query.model83.findFirst({
    where: eq(model83.team83, "a"),
    orderBy: desc(model83.score83),
    columns: { id: true, score83: true },
    with: { children: true },
  });
  await db.update(model83).set({ name: "b" }).where(eq(model83.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score83, some?.children[0]?.note ?? "",
  ];
  return values;
}