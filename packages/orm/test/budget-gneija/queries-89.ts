
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model89 } from "./model-89.js";
export async function queries89(db: Db) {
  const one = await db.query.model89.findFirst({ where: eq(model89.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model89)
    .where(and(eq(model89.team89, "a"), gte(model89.score89, 1)))
    .orderBy(model89.score89)
    .limit(10);
  const some = await db.query.model89.findFirst({
    where: eq(model89.team89, "a"),
    orderBy: desc(model89.score89),
    columns: { id: true, score89: true },
    with: { children: true },
  });
  await db.update(model89).set({ name: "b" }).where(eq(model89.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score89, some?.children[0]?.note ?? "",
  ];
  return values;
}