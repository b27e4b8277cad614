
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model43 } from "./model-43.js";
export async function queries43(db: Db) {
  const one = await db.query.model43.findFirst({ where: eq(model43.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model43)
    .where(and(eq(model43.team43, "a"), gte(model43.score43, 1)))
    .orderBy(model43.score43)
    .limit(10);
  const some = await db.query.model43.findFirst({
    where: eq(model43.team43, "a"),
    orderBy: desc(model43.score43),
    columns: { id: true, score43: true },
    with: { children: true },
  });
  await db.update(model43).set({ name: "b" }).where(eq(model43.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score43, some?.children[0]?.note ?? "",
  ];
  return values;
}