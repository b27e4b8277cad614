
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model19 } from "./model-19.js";
export async function queries19(db: Db) {
  const one = await db.query.model19.findFirst({ where: eq(model19.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model19)
    .where(and(eq(model19.team19, "a"), gte(model19.score19, 1)))
    .orderBy(model19.score19)
    .limit(10);
  const some = await db.query.model19.findFirst({
    where: eq(model19.team19, "a"),
    orderBy: desc(model19.score19),
    columns: { id: true, score19: true },
    with: { children: true },
  });
  await db.update(model19).set({ name: "b" }).where(eq(model19.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score19, some?.children[0]?.note ?? "",
  ];
  return values;
}