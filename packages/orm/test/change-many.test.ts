import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, type Database, defineModel } from "../src/index.js";
import { denoKv, interferingKv } from "./faulty-kv.js";
import { entriesOf, rejection, rejections } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Item = defineModel({
  name: "items",
  schema: z.object({
    id: z.int(),
    shelf: z.string(),
    stock: z.int().min(0),
    code: z.string().optional(),
    tags: z.array(z.string()).default([]),
  }),
  primaryKey: "id",
  indexes: {
    byShelf: { key: "shelf" },
    byStock: { key: "stock" },
    byCode: { key: "code", unique: true, normalize: (code) => code.toLowerCase() },
    byTag: { key: "tags", each: true },
  },
});

let kv: EmbeddedKv;
let db: Database<{ items: typeof Item }>;
beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: { items: Item } });
});
afterEach(async () => {
  await expectIndexesToMatch(kv, Item);
  await kv.close();
});

const fill = (count: number) =>
  db.items.createMany({
    data: Array.from({ length: count }, (_, id) => ({
      id,
      shelf: id % 2 ? "top" : "low",
      stock: id % 5,
    })),
  });

const stocks = async () => (await db.items.scan()).items.map(({ stock }) => stock);

/**
 * The database with something that happens before the first commit, and for which all commits wait.
 */
function interferingBeforeFirst(interfere: () => Promise<unknown>) {
  let done: Promise<unknown> | undefined;
  return interferingKv(kv, async () => {
    done ??= interfere();
    await done;
  });
}

/** The database with hooks after each write that throw. */
const failingHooks = (failure: Error) => {
  const fail = () => {
    throw failure;
  };
  const hooks = { items: { afterUpdate: fail, afterDelete: fail } };
  return createDatabase({ kv, models: { items: Item }, hooks });
};

describe("updateMany", () => {
  it("refuses a list for each row, as update does", async () => {
    await fill(2);
    const { count, results } = await db.items.updateMany({ filter: () => true, data: [] as never });
    expect(count).toBe(0);
    expect(results).toEqual(
      [0, 1].map((id) => ({
        ok: false,
        id,
        error: expect.objectContaining({ code: "KW_ROW_INVALID" }),
      })),
    );
  });

  it("takes what objects of a class have from it", async () => {
    await fill(1);
    const data = new (class {
      get stock() {
        return 9;
      }
    })();
    expect((await db.items.updateMany({ filter: () => true, data })).count).toBe(1);
    expect(await stocks()).toEqual([9]);
  });

  it("tells of hooks that fail after a write, which stands", async () => {
    await fill(2);
    const failure = new Error("no mail");
    const hooked = await failingHooks(failure);
    const update = { filter: () => true, data: { stock: { increment: 1 } } } as const;
    const { count, results } = await hooked.items.updateMany(update);
    expect(count).toBe(2);
    expect(results).toEqual(
      [1, 2].map((stock) => ({
        ok: true,
        row: expect.objectContaining({ stock }),
        hookError: failure,
      })),
    );
    expect(await stocks()).toEqual([1, 2]);
    // Where there is one result for all, it is thrown.
    expect(await rejection(hooked.items.updateMany({ ...update, atomic: true }))).toBe(failure);
    const within = hooked.transaction((tx) => tx.items.updateMany(update));
    expect(await rejection(within)).toBe(failure);
    expect(await stocks()).toEqual([3, 4]);
  });

  it("changes the rows of a query, each of them once, also in the index by which it finds them", async () => {
    await fill(300);
    const { count, results } = await db.items.updateMany({
      where: { stock: { gte: 1 } },
      data: { stock: { increment: 1 } },
    });
    expect([count, results.length]).toEqual([240, 240]);
    const expected = Array.from({ length: 300 }, (_, id) => (id % 5 === 0 ? 0 : (id % 5) + 1));
    expect(await stocks()).toEqual(expected);
  });

  it("takes order and number, and a row once that several of its elements lead to", async () => {
    await db.items.createMany({
      data: [1, 2, 3].map((id) => ({ id, shelf: "top", stock: id, tags: ["a", "b"] })),
    });
    const query = { where: { tags: { has: { gte: "a" } } }, data: { stock: { increment: 10 } } };
    expect((await db.items.updateMany(query as never)).count).toBe(3);
    const last = { where: { stock: { gte: 0 } }, orderBy: { stock: "desc" }, take: 1 } as const;
    await db.items.updateMany({ ...last, data: { stock: 0 } });
    expect(await stocks()).toEqual([11, 12, 0]);
  });

  it("says which row failed, and changes the others", async () => {
    await fill(10);
    const { count, results } = await db.items.updateMany({
      where: { shelf: "top" },
      data: { stock: { increment: -1 } },
    });
    expect(count).toBe(4);
    expect(results.filter(({ ok }) => !ok)).toEqual([
      { ok: false, id: 5, error: expect.objectContaining({ code: "KW_ROW_INVALID" }) },
    ]);
    const twins = await db.items.updateMany({ where: { shelf: "low" }, data: { code: "One" } });
    expect(twins.results.map(({ ok }) => ok)).toEqual([true, false, false, false, false]);
    expect(twins.results[1]).toMatchObject({
      id: 2,
      error: { code: "KW_UNIQUE_CONSTRAINT", ownerId: 0 },
    });
  });

  it("with atomic changes all rows or none", async () => {
    await fill(10);
    const before = await entriesOf(kv);
    const down = { data: { stock: { increment: -1 } }, atomic: true } as const;
    const error = await rejection(db.items.updateMany({ where: { shelf: "top" }, ...down }));
    expect(error).toMatchObject({ code: "KW_ROW_INVALID", operation: "updateMany" });
    expect(await entriesOf(kv)).toEqual(before);
    const { count } = await db.items.updateMany({ where: { stock: { gte: 1 } }, ...down });
    expect(count).toBe(8);
    expect(await stocks()).toEqual([0, 0, 1, 2, 3, 0, 0, 1, 2, 3]);
  });

  it("leaves a row alone that is changed before its turn so that it is not meant any more", async () => {
    await fill(6);
    for (const atomic of [true, false]) {
      await db.items.updateMany({ filter: () => true, data: { shelf: "low", stock: 1 } });
      const other = await createDatabase({
        kv: interferingBeforeFirst(async () => {
          await db.items.update({ where: { id: 2 }, data: { shelf: "top" } });
          await db.items.update({ where: { id: 3 }, data: { stock: 7 } });
        }),
        models: { items: Item },
      });
      const { count } = await other.items.updateMany({
        where: { shelf: "low" },
        filter: ({ stock }: { stock: number }) => stock < 5,
        data: { stock: { increment: 1 } },
        atomic,
      });
      expect(count).toBe(4);
      expect(await stocks()).toEqual([2, 2, 1, 7, 2, 2]);
    }
  });

  it("leaves rows out that are deleted before their turn", async () => {
    await fill(4);
    const racing = interferingBeforeFirst(() => db.items.delete({ where: { id: 1 } }));
    const other = await createDatabase({ kv: racing, models: { items: Item } });
    const { results } = await other.items.updateMany({
      filter: () => true,
      data: { shelf: "attic" },
    });
    expect(results.map((result) => (result.ok ? result.row.id : result))).toEqual([0, 2, 3]);
  });

  it("loses no change of two calls at once", async () => {
    await fill(120);
    const limited = await createDatabase({ kv: denoKv(kv), models: { items: Item } });
    const call = (client: typeof db) => () =>
      client.items.updateMany({ filter: () => true, data: { stock: { increment: 1 } } });
    const results = await Promise.all([db, limited, db, limited].map((client) => call(client)()));
    expect(results.map(({ count }) => count)).toEqual([120, 120, 120, 120]);
    expect(await stocks()).toEqual(Array.from({ length: 120 }, (_, id) => (id % 5) + 4));
  });

  it("refuses a query without a condition, and a version", async () => {
    await fill(2);
    for (const query of [{}, { where: {} }, { take: 5 }, { orderBy: { stock: "asc" } as const }]) {
      const data = { stock: 0 };
      const calls = [
        db.items.updateMany({ ...query, data } as never),
        db.items.deleteMany(query as never),
      ];
      for (const error of await rejections(calls)) expect(error.code).toBe("KW_QUERY_INVALID");
    }
    const versioned = { filter: () => true, ifVersion: "0".repeat(20), data: { stock: 0 } };
    expect(await rejection(db.items.updateMany(versioned as never))).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "ifVersion",
    });
    expect(await stocks()).toEqual([0, 1]);
  });

  it("writes nothing where the query reads more than it may, and counts what it reads", async () => {
    await fill(20);
    const data = { stock: 9 };
    const call = { where: { shelf: "top" }, data } as const;
    const error = await rejection(db.items.updateMany({ ...call, maxReads: 19 } as never));
    expect(error).toMatchObject({ code: "KW_READ_LIMIT", operation: "updateMany" });
    expect((await stocks()).includes(9)).toBe(false);
    expect((await db.items.updateMany({ ...call, maxReads: 20 } as never)).count).toBe(10);
  });

  it("with atomic has its reads for each attempt anew", async () => {
    await fill(20);
    const racing = interferingBeforeFirst(() =>
      db.items.update({ where: { id: 3 }, data: { stock: 4 } }),
    );
    const other = await createDatabase({ kv: racing, models: { items: Item } });
    const call = {
      where: { shelf: "top" },
      data: { stock: 9 },
      atomic: true,
      maxReads: 20,
    } as const;
    expect((await other.items.updateMany(call as never)).count).toBe(10);
  });

  it("is part of a transaction, where that is what it is called in", async () => {
    await fill(10);
    const failing = db.transaction(async (tx) => {
      await tx.items.updateMany({ where: { shelf: "top" }, data: { shelf: "attic" } });
      expect((await tx.items.findMany({ where: { shelf: "attic" } })).items).toHaveLength(5);
      await tx.items.deleteMany({ where: { shelf: "attic" }, atomic: true });
      expect(await tx.items.count()).toBe(5);
      throw new Error("no");
    });
    expect(await rejection(failing)).toMatchObject({ message: "no" });
    expect(await db.items.count({ where: { shelf: "top" } })).toBe(5);
    await db.transaction(async (tx) => {
      const down = { where: { shelf: "top" }, data: { stock: { increment: -1 } } } as const;
      const { count } = await tx.items.updateMany(down);
      expect(count).toBe(4);
      expect((await rejection(tx.items.updateMany({ ...down, atomic: true }))).code).toBe(
        "KW_ROW_INVALID",
      );
    });
    expect(await stocks()).toEqual([0, 0, 2, 2, 4, 0, 1, 1, 3, 3]);
  });
});

describe("deleteMany", () => {
  it("tells of hooks that fail after a write, which stands, also of what goes with it", async () => {
    await fill(2);
    const failure = new Error("no mail");
    const hooked = await failingHooks(failure);
    const { count, results } = await hooked.items.deleteMany({ filter: ({ id }) => id === 1 });
    expect([count, results]).toEqual([
      1,
      [{ ok: true, row: expect.anything(), hookError: failure }],
    ]);
    const Box = defineModel({
      name: "boxes",
      schema: z.object({ id: z.int(), itemId: z.int() }),
      primaryKey: "id",
      indexes: { byItem: { key: "itemId" } },
      relations: { item: belongsTo("items", "itemId", { onDelete: "cascade" }) },
    });
    const hooks = {
      boxes: {
        afterDelete: () => {
          throw failure;
        },
      },
    };
    const both = await createDatabase({ kv, models: { items: Item, boxes: Box }, hooks });
    await both.boxes.create({ data: { id: 1, itemId: 0 } });
    expect((await both.items.deleteMany({ filter: () => true })).results).toEqual([
      { ok: true, row: expect.objectContaining({ id: 0 }), hookError: failure },
    ]);
    expect(await entriesOf(kv)).toEqual([]);
  });

  it("deletes the rows of a query and returns them as they were", async () => {
    await fill(300);
    const { count, results } = await db.items.deleteMany({ where: { stock: { gte: 1 } } });
    expect(count).toBe(240);
    expect(results[0]).toEqual({ ok: true, row: expect.objectContaining({ stock: 1 }) });
    expect(await stocks()).toEqual(Array.from({ length: 60 }, () => 0));
    expect((await db.items.deleteMany({ filter: () => true, atomic: true })).count).toBe(60);
    expect(await entriesOf(kv)).toEqual([]);
  });

  it("on ten checks a commit deletes all the same", async () => {
    await fill(100);
    await db.items.updateMany({ filter: () => true, data: { tags: ["a", "b"] } });
    const limited = await createDatabase({ kv: denoKv(kv), models: { items: Item } });
    expect((await limited.items.deleteMany({ where: { tags: { has: "a" } } } as never)).count).toBe(
      100,
    );
    expect(await entriesOf(kv)).toEqual([]);
  });

  it("fails for the rows alone that others refer to", async () => {
    const Box = defineModel({
      name: "boxes",
      schema: z.object({ id: z.int(), itemId: z.int() }),
      primaryKey: "id",
      indexes: { byItem: { key: "itemId" } },
      relations: { item: belongsTo("items", "itemId") },
    });
    await fill(4);
    const both = await createDatabase({ kv, models: { items: Item, boxes: Box } });
    await both.boxes.create({ data: { id: 1, itemId: 2 } });
    const { results } = await both.items.deleteMany({ filter: () => true });
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false, true]);
    expect(results[2]).toMatchObject({ id: 2, error: { code: "KW_ROW_REFERENCED" } });
    expect((await both.items.scan()).items.map(({ id }) => id)).toEqual([2]);
  });
});
