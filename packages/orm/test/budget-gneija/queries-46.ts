
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model46 } from "./model-46.js";
export async function queries46(db: Db) {
  const one = await db.query.model46.findFirst({ where: eq(model46.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model46)
    .where(and(eq(model46.team46, "a"), gte(model46.score46, 1)))
    .orderBy(model46.score46)
    .limit(10);
  const some = await db.query.model46.findFirst({
    where: eq(model46.team46, "a"),
    orderBy: desc(model46.score46),
    columns: { id: true, score46: true },
    with: { children: true },
  });
  await db.update(model46).set({ name: "b" }).where(eq(model46.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score46, some?.children[0]?.note ?? "",
  ];
  return values;
}