
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model92 } from "./model-92.js";
export async function queries92(db: Db) {
  const one = await db.query.model92.findFirst({ where: eq(model92.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model92)
    .where(and(eq(model92.team92, "a"), gte(model92.score92, 1)))
    .orderBy(model92.score92)
    .limit(10);
  const some = await db.query.model92.findFirst({
    where: eq(model92.team92, "a"),
    orderBy: desc(model92.score92),
    columns: { id: true, score92: true },
    with: { children: true },
  });
  await db.update(model92).set({ name: "b" }).where(eq(model92.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score92, some?.children[0]?.note ?? "",
  ];
  return values;
}