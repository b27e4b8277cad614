
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model69 } from "./model-69.js";
export async function queries69(db: Db) {
  const one = await db.query.model69.findFirst({ where: eq(model69.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model69)
    .where(and(eq(model69.team69, "a"), gte(model69.score69, 1)))
    .orderBy(model69.score69)
    .limit(10);
  const some = await db.query.model69.findFirst({
    where: eq(model69.team69, "a"),
    orderBy: desc(model69.score69),
    columns: { id: true, score69: true },
    with: { children: true },
  });
  await db.update(model69).set({ name: "b" }).where(eq(model69.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score69, some?.children[0]?.note ?? "",
  ];
  return values;
}