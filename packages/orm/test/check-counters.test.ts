import { type EmbeddedKv, type KvKey, KvU64, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, type Database, defineModel, desc } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";

const Order = defineModel({
  name: "orders",
  schema: z.object({
    id: z.string(),
    customer: z.string(),
    month: z.int(),
    amount: z.bigint(),
    fee: z.int().optional(),
    tags: z.array(z.string()).default([]),
    deletedAt: z.date().nullable().default(null),
  }),
  primaryKey: "id",
  count: true,
  sum: ["amount"],
  softDelete: "deletedAt",
  indexes: {
    byCustomer: { key: ["customer", desc("month")], count: true, sum: ["amount", "fee"] },
    byTag: { key: "tags", each: true, count: true },
    byId2: { key: ["month", "id"], unique: true, sum: ["fee"] },
  },
});
const models = { orders: Order };

let kv: EmbeddedKv;
let db: Database<typeof models>;

beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models });
  await db.orders.createMany({
    data: Array.from({ length: 700 }, (_, i) => ({
      id: `o${i}`,
      customer: `c${i % 7}`,
      month: i % 12,
      amount: BigInt(i) * 10n ** 12n - 5n,
      ...(i % 3 === 0 && { fee: -i }),
      tags: i % 5 === 0 ? ["a", `t${i % 10}`] : [],
    })),
  });
  await db.orders.deleteMany({ where: { customer: "c1" } });
});
afterEach(() => kv.close());

const counters = async (options: Parameters<typeof verifyIndexes>[1] = {}) => {
  const { status, models: verified } = await verifyIndexes(db, options);
  return { status, ...verified[0]?.counters };
};

async function counterKeys(prefix: string): Promise<KvKey[]> {
  const keys: KvKey[] = [];
  for await (const { key } of kv.list({ prefix: ["__keywright", "count"] })) {
    if (String(key[2]).startsWith(prefix)) keys.push(key);
  }
  return keys;
}

describe("verifyIndexes", () => {
  it("finds no difference after creates, changes and deletes", async () => {
    expect(await counters()).toEqual({
      status: "clean",
      count: 0,
      first: [],
      unchecked: 0,
      repaired: 0,
    });
  });

  it("finds each kind of wrong counter, and builds them again", async () => {
    const kinds = ["orders_by_customer", "orders_by_customer sum(amount)", "orders_by_tag"];
    for (const prefix of ["orders unmarked", ...kinds, "orders_by_id2 sum(fee)"]) {
      const [key] = await counterKeys(prefix);
      expect([prefix, key]).not.toContain(undefined);
      await kv.atomic().sum(key!, 3n).commit();
      const found = await counters();
      expect([prefix, found.status, found.count]).toEqual([prefix, "damaged", 1]);
      const index = prefix.startsWith("orders_") ? expect.stringMatching(/^by/) : undefined;
      expect(found.first).toMatchObject([{ model: "orders", index }]);
      expect(await counters({ repair: true })).toMatchObject({ status: "repaired", repaired: 1 });
      expect(await counters()).toMatchObject({ status: "clean" });
    }
  });

  it("finds counters of keys that no row has", async () => {
    const [key] = await counterKeys("orders_by_customer");
    const other = [...key!.slice(0, 3), "nobody", ...key!.slice(4)];
    await kv.set(other, new KvU64(2n));
    expect(await counters()).toMatchObject({
      status: "damaged",
      count: 1,
      first: [{ index: "byCustomer", parts: ["nobody", expect.anything()], sum: undefined }],
    });
    expect(await counters({ repair: true })).toMatchObject({ status: "repaired" });
    expect((await kv.get(other)).versionstamp).toBeNull();
  });

  it("finds counters that are missing", async () => {
    const keys = await counterKeys("orders_by_customer sum(amount)");
    await kv.delete(keys.at(-1)!);
    const { first } = await counters();
    expect(first).toMatchObject([{ index: "byCustomer", sum: "amount" }]);
  });

  it("finds nothing while others write", async () => {
    let isDone = false;
    const verification = counters().finally(() => {
      isDone = true;
    });
    for (let i = 0; !isDone && i < 300; i++) {
      await db.orders.update({
        where: { id: `o${(i % 90) * 7}` },
        data: { month: i % 12, fee: i },
      });
      await db.orders.create({ data: { id: `n${i}`, customer: "c0", month: 1, amount: 1n } });
    }
    expect(await verification).toMatchObject({ status: "clean", count: 0 });
  });
});
