
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model29 } from "./model-29.js";
export async function queries29(db: Db) {
  const one = await db.query.model29.findFirst({ where: eq(model29.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model29)
    .where(and(eq(model29.team29, "a"), gte(model29.score29, 1)))
    .orderBy(model29.score29)
    .limit(10);
  const some = await db.query.model29.findFirst({
    where: eq(model29.team29, "a"),
    orderBy: desc(model29.score29),
    columns: { id: true, score29: true },
    with: { children: true },
  });
  await db.update(model29).set({ name: "b" }).where(eq(model29.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score29, some?.children[0]?.note ?? "",
  ];
  return values;
}