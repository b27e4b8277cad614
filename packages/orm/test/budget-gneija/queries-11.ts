
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model11 } from "./model-11.js";
export async function queries11(db: Db) {
  const one = await db.query.model11.findFirst({ where: eq(model11.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model11)
    .where(and(eq(model11.team11, "a"), gte(model11.score11, 1)))
    .orderBy(model11.score11)
    .limit(10);
  const some = await db.query.model11.findFirst({
    where: eq(model11.team11, "a"),
    orderBy: desc(model11.score11),
    columns: { id: true, score11: true },
    with: { children: true },
  });
  await db.update(model11).set({ name: "b" }).where(eq(model11.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score11, some?.children[0]?.note ?? "",
  ];
  return values;
}