
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model52 } from "./model-52.js";
export async function queries52(db: Db) {
  const one = await db.query.model52.findFirst({ where: eq(model52.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model52)
    .where(and(eq(model52.team52, "a"), gte(model52.score52, 1)))
    .orderBy(model52.score52)
    .limit(10);
  const some = await db.query.model52.findFirst({
    where: eq(model52.team52, "a"),
    orderBy: desc(model52.score52),
    columns: { id: true, score52: true },
    with: { children: true },
  });
  await db.update(model52).set({ name: "b" }).where(eq(model52.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score52, some?.children[0]?.note ?? "",
  ];
  return values;
}