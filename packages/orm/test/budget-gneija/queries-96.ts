
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model96 } from "./model-96.js";
export async function queries96(db: Db) {
  const one = await db.query.model96.findFirst({ where: eq(model96.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model96)
    .where(and(eq(model96.team96, "a"), gte(model96.score96, 1)))
    .orderBy(model96.score96)
    .limit(10);
  const some = await db.query.model96.findFirst({
    where: eq(model96.team96, "a"),
    orderBy: desc(model96.score96),
    columns: { id: true, score96: true },
    with: { children: true },
  });
  await db.update(model96).set({ name: "b" }).where(eq(model96.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score96, some?.children[0]?.note ?? "",
  ];
  return values;
}