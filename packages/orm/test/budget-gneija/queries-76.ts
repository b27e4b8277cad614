
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model76 } from "./model-76.js";
export async function queries76(db: Db) {
  const one = await db.query.model76.findFirst({ where: eq(model76.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model76)
    .where(and(eq(model76.team76, "a"), gte(model76.score76, 1)))
    .orderBy(model76.score76)
    .limit(10);
  const some = await db.query.model76.findFirst({
    where: eq(model76.team76, "a"),
    orderBy: desc(model76.score76),
    columns: { id: true, score76: true },
    with: { children: true },
  });
  await db.update(model76).set({ name: "b" }).where(eq(model76.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score76, some?.children[0]?.note ?? "",
  ];
  return values;
}