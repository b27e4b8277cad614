
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model94 } from "./model-94.js";
export async function queries94(db: Db) {
  const one = await db.query.model94.findFirst({ where: eq(model94.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model94)
    .where(and(eq(model94.team94, "a"), gte(model94.score94, 1)))
    .orderBy(model94.score94)
    .limit(10);
  const some = await db.query.model94.findFirst({
    where: eq(model94.team94, "a"),
    orderBy: desc(model94.score94),
    columns: { id: true, score94: true },
    with: { children: true },
  });
  await db.update(model94).set({ name: "b" }).where(eq(model94.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score94, some?.children[0]?.note ?? "",
  ];
  return values;
}