
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model54 } from "./model-54.js";
export async function queries54(db: Db) {
  const one = await db.query.model54.findFirst({ where: eq(model54.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model54)
    .where(and(eq(model54.team54, "a"), gte(model54.score54, 1)))
    .orderBy(model54.score54)
    .limit(10);
  const some = await db.query.model54.findFirst({
    where: eq(model54.team54, "a"),
    orderBy: desc(model54.score54),
    columns: { id: true, score54: true },
    with: { children: true },
  });
  await db.update(model54).set({ name: "b" }).where(eq(model54.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score54, some?.children[0]?.note ?? "",
  ];
  return values;
}