
import { and, desc, eq, gte } from "drizzle-orm";
import type { Db } from "./db.js";
import { model51 } from "./model-51.js";
export async function queries51(db: Db) {
  const one = await db.query.model51.findFirst({ where: eq(model51.email, "a"), with: { parent: true } });
  const page = await db
    .select()
    .from(model51)
    .where(and(eq(model51.team51, "a"), gte(model51.score51, 1)))
    .orderBy(model51.score51)
    .limit(10);
  const some = await db.query.model51.findFirst({
    where: eq(model51.team51, "a"),
    orderBy: desc(model51.score51),
    columns: { id: true, score51: true },
    with: { children: true },
  });
  await db.update(model51).set({ name: "b" }).where(eq(model51.id, "a")).returning();
  const values: readonly (string | number | undefined)[] = [
    one?.parent.name, page[0]?.email, some?.score51, some?.children[0]?.note ?? "",
  ];
  return values;
}