
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model45 } from "./model-45.js";
export async function queries45(db: Db) {
  const one = await db.query.model45.findFirst({ where: eq(model45.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model45)
    .where(and(eq(model45.team45, "a"), gte(model45.score45, 1)))
    .orderBy(model45.score45)
    .limit(10);
  const some = await db.query.model45.findFirst({
    where: eq(model45.team45, "a"),
    orderBy: desc(model45.score45),
    columns: { id: true, score45: true },
    with: { children: true },
  });
  await db.update(model45).set({ name: "b" }).where(eq(model45.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score45, some?.children[0]?.note ?? "",
  ];
  return values;
}