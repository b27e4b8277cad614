
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model47 } from "./model-47.js";
export async function queries47(db: Db) {
  const one = await db.query.model47.findFirst({ where: eq(model47.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model47)
    .where(and(eq(model47.team47, "a"), gte(model47.score47, 1)))
    .orderBy(model47.score47)
    .limit(10);
  const some = await db.query.model47.findFirst({
    where: eq(model47.team47, "a"),
    orderBy: desc(model47.score47),
    columns: { id: true, score47: true },
    with: { children: true },
  });
  await db.update(model47).set({ name: "b" }).where(eq(model47.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score47, some?.children[0]?.note ?? "",
  ];
  return values;
}