
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model82 } from "./model-82.js";
export async function queries82(db: Db) {
  const one = await db.query.model82.findFirst({ where: eq(model82.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model82)
    .where(and(eq(model82.team82, "a"), gte(model82.score82, 1)))
    .orderBy(model82.score82)
    .limit(10);
  const some = await db.query.model82.findFirst({
    where: eq(model82.team82, "a"),
    orderBy: desc(model82.score82),
    columns: { id: true, score82: true },
    with: { children: true },
  });
  await db.update(model82).set({ name: "b" }).where(eq(model82.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score82, some?.children[0]?.note ?? "",
  ];
  return values;
}