
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model17 } from "./model-17.js";
export async function queries17(db: Db) {
  const one = await db.query.model17.findFirst({ where: eq(model17.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model17)
    .where(and(eq(model17.team17, "a"), gte(model17.score17, 1)))
    .orderBy(model17.score17)
    .limit(10);
  const some = await db.query.model17.findFirst({
    where: eq(model17.team17, "a"),
    orderBy: desc(model17.score17),
    columns: { id: true, score17: true },
    with: { children: true },
  });
  await db.update(model17).set({ name: "b" }).where(eq(model17.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score17, some?.children[0]?.note ?? "",
  ];
  return values;
}