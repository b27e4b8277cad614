
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model31 } from "./model-31.js";
export async function queries31(db: Db) {
  const one = await db.query.model31.findFirst({ where: eq(model31.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model31)
    .where(and(eq(model31.team31, "a"), gte(model31.score31, 1)))
    .orderBy(model31.score31)
    .limit(10);
  const some = await db.query.model31.findFirst({
    where: eq(model31.team31, "a"),
    orderBy: desc(model31.score31),
    columns: { id: true, score31: true },
    with: { children: true },
  });
  await db.update(model31).set({ name: "b" }).where(eq(model31.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score31, some?.children[0]?.note ?? "",
  ];
  return values;
}