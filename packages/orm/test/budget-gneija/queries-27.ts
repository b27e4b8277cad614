
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model27 } from "./model-27.js";
export async function queries27(db: Db) {
  const one = await db.query.model27.findFirst({ where: eq(model27.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model27)
    .where(and(eq(model27.team27, "a"), gte(model27.score27, 1)))
    .orderBy(model27.score27)
    .limit(10);
  const some = await db.query.model27.findFirst({
    where: eq(model27.team27, "a"),
    orderBy: desc(model27.score27),
    columns: { id: true, score27: true },
    with: { children: true },
  });
  await db.update(model27).set({ name: "b" }).where(eq(model27.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score27, some?.children[0]?.note ?? "",
  ];
  return values;
}