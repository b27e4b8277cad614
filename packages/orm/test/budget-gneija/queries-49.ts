
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model49 } from "./model-49.js";
export async function queries49(db: Db) {
  const one = await db.query.model49.findFirst({ where: eq(model49.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model49)
    .where(and(eq(model49.team49, "a"), gte(model49.score49, 1)))
    .orderBy(model49.score49)
    .limit(10);
  const some = await db.query.model49.findFirst({
    where: eq(model49.team49, "a"),
    orderBy: desc(model49.score49),
    columns: { id: true, score49: true },
    with: { children: true },
  });
  await db.update(model49).set({ name: "b" }).where(eq(model49.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score49, some?.children[0]?.note ?? "",
  ];
  return values;
}