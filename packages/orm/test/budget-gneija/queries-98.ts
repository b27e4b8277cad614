
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model98 } from "./model-98.js";
export async function queries98(db: Db) {
  const one = await db.query.model98.findFirst({ where: eq(model98.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model98)
    .where(and(eq(model98.team98, "a"), gte(model98.score98, 1)))
    .orderBy(model98.score98)
    .limit(10);
  const some = await db.query.model98.findFirst({
    where: eq(model98.team98, "a"),
    orderBy: desc(model98.score98),
    columns: { id: true, score98: true },
    with: { children: true },
  });
  await db.update(model98).set({ name: "b" }).where(eq(model98.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score98, some?.children[0]?.note ?? "",
  ];
  return values;
}