
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model63 } from "./model-63.js";
export async function queries63(db: Db) {
  const one = await db.query.model63.findFirst({ where: eq(model63.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model63)
    .where(and(eq(model63.team63, "a"), gte(model63.score63, 1)))
    .orderBy(model63.score63)
    .limit(10);
  const some = await db.query.model63.findFirst({
    where: eq(model63.team63, "a"),
    orderBy: desc(model63.score63),
    columns: { id: true, score63: true },
    with: { children: true },
  });
  await db.update(model63).set({ name: "b" }).where(eq(model63.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score63, some?.children[0]?.note ?? "",
  ];
  return values;
}