import { setImmediate } from "node:timers";
import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";

const rowCount = 2000;

/** Counts the turns that other work of the process gets during a call. */
async function turnsDuring(call: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next: NodeJS.Immediate | undefined;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  next = setImmediate(count);
  await call();
  clearImmediate(next);
  return turns;
}

it("other work gets its turn while many rows are written in one commit", async () => {
  await using kv = await openKv();
  const Item = defineModel({
    name: "items",
    schema: z.object({ id: z.string(), group: z.string(), text: z.string() }),
    primaryKey: "id",
    indexes: { byGroup: { key: "group" } },
  });
  const { items } = await createDatabase({ kv, models: { items: Item } });
  const data = Array.from({ length: rowCount }, (_, n) => ({ id: `${n}`, group: "a", text: "x" }));
  const where = { group: "a" };
  for (const call of [
    () => items.createMany({ data, atomic: true }),
    () => items.updateMany({ where, data: { text: "y" }, atomic: true }),
    () => items.deleteMany({ where, atomic: true }),
  ])
    expect(await turnsDuring(call)).toBeGreaterThanOrEqual(rowCount / 100);
});
