
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model32 } from "./model-32.js";
export async function queries32(db: Db) {
  const one = await db.query.model32.findFirst({ where: eq(model32.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model32)
    .where(and(eq(model32.team32, "a"), gte(model32.score32, 1)))
    .orderBy(model32.score32)
    .limit(10);
  const some = await db.query.model32.findFirst({
    where: eq(model32.team32, "a"),
    orderBy: desc(model32.score32),
    columns: { id: true, score32: true },
    with: { children: true },
  });
  await db.update(model32).set({ name: "b" }).where(eq(model32.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score32, some?.children[0]?.note ?? "",
  ];
  return values;
}