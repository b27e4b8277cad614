import { setImmediate } from "node:timers/promises";
import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { createDatabase, decimal, defineMigration, defineModel, migrate } from "../src/index.js";
import { planMigration, verifyIndexes } from "../src/migrate.js";
import { Crash, crashingKv, denoKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const schema = z.object({
  id: z.string(),
  shop: z.string(),
  amount: z.int(),
  price: z.string().optional(),
});
const Plain = defineModel({
  name: "sales",
  schema,
  primaryKey: "id",
  indexes: { byShop: { key: "shop" } },
});
const Sale = defineModel({
  name: "sales",
  schema,
  primaryKey: "id",
  sum: ["amount"],
  indexes: {
    byShop: {
      key: "shop",
      sum: ["amount", decimal("price", 2)],
      min: ["amount"],
      max: ["amount"],
    },
  },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(async () => {
  await kv.close();
  vi.useRealTimers();
});

const openPlain = (on: Kv = kv) => createDatabase({ kv: on, models: { sales: Plain } });
const open = (on: Kv = kv) => createDatabase({ kv: on, models: { sales: Sale } });

const rowOf = (i: number) => ({
  id: `s${String(i).padStart(4, "0")}`,
  shop: `shop ${i % 3}`,
  amount: i - 5,
  ...(i % 2 === 0 && { price: `${i}.25` }),
});

const fill = async (rows: number) => {
  const db = await openPlain();
  await db.sales.createMany({ data: Array.from({ length: rows }, (_, i) => rowOf(i)) });
};

const sums = (db: Awaited<ReturnType<typeof open>>) =>
  db.sales.groupBy({ by: ["shop"], count: true, sum: { amount: true, price: true } });

describe("aggregates that are new to a model with rows", () => {
  it("are not ready before they are built", async () => {
    await fill(10);
    const db = await open();
    const error = await rejection(db.sales.aggregate({ sum: { amount: true } }));
    expect(error).toMatchObject({ code: "KW_INDEX_NOT_READY", state: "absent" });
    expect(error.message).toBe(
      "sales.aggregate: the count of all rows cannot be read: it is not built yet; run migrate",
    );
    const plan = await planMigration(db);
    expect(plan.models.flatMap(({ steps }) => steps).map(({ id }) => id)).toEqual([
      "sales.byShop.amount: build-index",
      "sales.count(): build-counter",
      "sales.sum(amount): build-counter",
      "sales.count(byShop): build-counter",
      "sales.byShop sum(amount): build-counter",
      "sales.byShop sum(price, 2): build-counter",
    ]);
  });

  it.each([
    ["the embedded database", (on: Kv) => on],
    ["a database with Deno KV's limits", denoKv],
  ])("are built by a migration on %s", async (_, wrap) => {
    await fill(40);
    expect((await migrate(await open(wrap(kv)))).status).toBe("done");
    await expectIndexesToMatch(kv, Sale as never);
    expect((await sums(await open()))[0]).toEqual({
      shop: "shop 0",
      count: 14,
      sum: { amount: 203, price: "127.75" },
    });
  });

  it("are built while others write", async () => {
    await fill(300);
    const db = await open();
    let isBuilt = false;
    const write = async (client: number) => {
      for (let i = 0; !isBuilt; i++) {
        if (i % 20 === 0) await setImmediate();
        const row = rowOf((i * 37 + client * 211) % 350);
        const change = { shop: `shop ${i % 4}`, amount: i };
        await db.sales.upsert({ where: { id: row.id }, create: row, update: change });
        if (i % 3 === 0) await db.sales.delete({ where: { id: row.id } }).catch(() => undefined);
      }
    };
    const build = migrate(await open()).finally(() => {
      isBuilt = true;
    });
    await Promise.all([build, write(0), write(1), write(2)]);
    await expectIndexesToMatch(kv, Sale as never);
  });

  it.each(["before", "after"] as const)(
    "are exact when the build dies %s any of its commits",
    async (moment) => {
      for (let at = 1; ; at++) {
        const own = await openKv();
        const outer = kv;
        kv = own;
        try {
          await fill(12);
          const dying = await open(crashingKv(denoKv(own), at, moment));
          const end = await migrate(dying).catch((error: unknown) => error);
          const db = await open();
          await db.sales.update({ where: { id: "s0003" }, data: { amount: 1_000_000 } });
          await db.sales.delete({ where: { id: "s0009" } });
          expect((await migrate(db)).status).toBe("done");
          await expectIndexesToMatch(own, Sale as never);
          if (!(end instanceof Crash)) {
            expect(at).toBeGreaterThan(4);
            return;
          }
        } finally {
          kv = outer;
          await own.close();
        }
      }
    },
  );

  it("are built again by verify if they are wrong", async () => {
    await fill(10);
    const db = await open();
    await migrate(db);
    const before = await sums(db);
    await kv
      .atomic()
      .sum(["__keywright", "count", "sales_by_shop sum(amount)", "shop 1", 0], 5n)
      .commit();
    expect(await sums(db)).not.toEqual(before);
    await verifyIndexes(db, { repair: true, recount: true });
    expect(await sums(db)).toEqual(before);
  });
});

describe("aggregates that a model no longer has", () => {
  it("are removed by a migration", async () => {
    await fill(10);
    await migrate(await open());
    await (await openPlain()).sales.delete({ where: { id: "s0001" } });
    await expectIndexesToMatch(kv, Sale);
    const { status } = await migrate(await openPlain(), { accept: true });
    expect(status).toBe("done");
    const left: unknown[] = [];
    for await (const { key } of kv.list({ prefix: ["__keywright", "count"] })) left.push(key);
    for await (const { key } of kv.list({ prefix: ["sales_by_shop_by_amount"] })) left.push(key);
    expect(left).toEqual([]);
  });

  it("follow their index to its new name", async () => {
    await fill(10);
    await migrate(await open());
    const { byShop } = Sale.indexes;
    const Renamed = defineModel({
      name: "sales",
      schema,
      primaryKey: "id",
      sum: ["amount"],
      indexes: { shops: { ...byShop, min: ["amount"], max: ["amount"], prefix: "sales_by_shop" } },
    });
    const renamed = await createDatabase({ kv, models: { sales: Renamed } });
    const plan = await planMigration(renamed);
    const kinds = plan.models.flatMap(({ steps }) => steps).map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(["rename-index"]));
    expect((await migrate(renamed)).status).toBe("done");
    expect(await renamed.sales.groupBy({ by: ["shop"], sum: { amount: true } })).toHaveLength(3);
    await renamed.sales.create({ data: rowOf(20) });
    await expectIndexesToMatch(kv, Renamed as never);
  });
});

describe("aggregates during a change of rows", () => {
  it("are not read while stored values differ from those that the program reads", async () => {
    await fill(10);
    await migrate(await open());
    const Cents = defineModel({
      name: "sales",
      schema: schema.extend({ amount: z.int().multipleOf(100) }),
      primaryKey: "id",
      sum: ["amount"],
      indexes: Sale.indexes,
    });
    const up = (row: z.output<typeof schema>) => ({ ...row, amount: row.amount * 100 });
    const toCents = defineMigration({ model: Cents, from: schema, to: Cents.schema, up });
    const db = await createDatabase({ kv, models: { sales: Cents }, migrations: [toCents] });
    const error = await rejection(db.sales.aggregate({ sum: { amount: true } }));
    expect(error).toMatchObject({ code: "KW_INDEX_NOT_READY", state: "outdated" });
    expect((await migrate(db, { accept: true })).status).toBe("done");
    expect(await db.sales.aggregate({ sum: { amount: true } })).toEqual({ sum: { amount: -500 } });
    await expectIndexesToMatch(kv, Cents as never);
  });
});

describe("aggregates of rows that expire", () => {
  const start = 1_800_000_000_000;

  it("agree with the rows at any time", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    const write = fc.record({
      id: fc.constantFrom("1", "2", "3"),
      shop: fc.constantFrom("x", "y"),
      amount: fc.integer({ min: -5, max: 5 }),
      price: fc.option(fc.constantFrom("0.5", "1.25"), { nil: undefined }),
      expireIn: fc.option(fc.constantFrom(10, 20, 30), { nil: undefined }),
      passes: fc.constantFrom(0, 10, 25),
      kind: fc.constantFrom("upsert", "delete"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 8 }), async (writes) => {
        await using own = await openKv();
        const db = await open(own);
        for (const { id, shop, amount, price, expireIn, passes, kind } of writes) {
          const data = { shop, amount, ...(price !== undefined && { price }) };
          const options = expireIn === undefined ? {} : { expireIn };
          if (kind === "upsert") {
            await db.sales.upsert({
              where: { id },
              create: { id, ...data },
              update: { price: { unset: true }, ...data },
              ...options,
            });
          } else await db.sales.delete({ where: { id } }).catch(() => undefined);
          vi.setSystemTime(Date.now() + passes);
          const { items } = await db.sales.scan();
          for (const each of ["x", "y"]) {
            const rows = items.filter((row) => row.shop === each);
            const total = rows.reduce((sum, row) => sum + row.amount, 0);
            const amounts = rows.map((row) => row.amount);
            expect(
              await db.sales.aggregate({
                where: { shop: each },
                count: true,
                sum: { amount: true },
                max: { amount: true },
              }),
            ).toEqual({
              count: rows.length,
              sum: { amount: rows.length === 0 ? null : total },
              max: { amount: rows.length === 0 ? null : Math.max(...amounts) },
            });
          }
          expect((await db.sales.aggregate({ sum: { amount: true } })).sum.amount).toBe(
            items.length === 0 ? null : items.reduce((sum, row) => sum + row.amount, 0),
          );
        }
      }),
      { numRuns: 40 },
    );
  });
});
