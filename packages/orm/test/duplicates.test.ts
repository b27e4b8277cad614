import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, migrate } from "../src/index.js";
import { findDuplicates, verifyIndexes } from "../src/migrate.js";
import type { Duplicate } from "../src/state/catalog/backfill-state.js";
import type { CatalogEntry } from "../src/state/catalog/catalog-entry.js";
import { countingKv } from "./counting-kv.js";
import { Crash, denoKv, interferingKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Plain = defineModel({
  name: "things",
  schema: z.object({
    id: z.string(),
    name: z.string(),
    tags: z.array(z.string()).default([]),
    size: z.number().default(0),
  }),
  primaryKey: "id",
});
const Thing = defineModel({
  ...Plain,
  indexes: {
    byName: { key: "name", unique: true },
    byTag: { key: "tags", each: true, unique: true },
  },
});
/** Deleting a thing then takes a transaction. */
const Part = defineModel({
  name: "parts",
  schema: z.object({ id: z.string(), thing: z.string() }),
  primaryKey: "id",
  indexes: { byThing: { key: "thing" } },
  relations: { owner: belongsTo("things", "thing", { onDelete: "cascade" }) },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = (on: Kv = kv) => createDatabase({ kv: on, models: { things: Thing } });

/** A database whose rows have these names, with indexes that were built then. */
async function fill(names: readonly string[], on: Kv = kv) {
  const before = await createDatabase({ kv, models: { things: Plain } });
  const data = names.map((name, i) => ({ id: `r${String(i).padStart(3, "0")}`, name }));
  await before.things.createMany({ data });
  const db = await open(on);
  return { db, result: await migrate(db) };
}

async function stateOf(index: string): Promise<string | undefined> {
  const { value } = await kv.get<CatalogEntry>(["__keywright", "catalog", "things"]);
  return value?.indexes[index]?.state;
}

async function recorded(): Promise<Duplicate[]> {
  const all = [];
  for await (const { value } of kv.list<Duplicate>({ prefix: ["__keywright", "duplicates"] })) {
    all.push(value);
  }
  return all;
}

async function expectReady(): Promise<void> {
  expect(await stateOf("byName")).toBe("readable");
  expect(await recorded()).toEqual([]);
  await expectIndexesToMatch(kv, Thing);
}

describe("a unique index that waits for its last duplicate to go", () => {
  it("goes readable by itself when the row that was kept out is deleted", async () => {
    const { db } = await fill(["a", "b", "a"]);
    expect(await stateOf("byName")).toBe("unique-pending");
    await db.things.delete({ where: { id: "r002" } });
    await expectReady();
    expect((await db.things.findUnique({ where: { name: "a" } }))?.id).toBe("r000");
  });

  it("goes readable by itself when that row gets another value", async () => {
    const { db } = await fill(["a", "b", "a"]);
    await db.things.update({ where: { id: "r002" }, data: { name: "c" } });
    await expectReady();
  });

  it("gives the value to the row that was kept out when the other one gives it up", async () => {
    const { db } = await fill(["a", "b", "a", "a"]);
    await db.things.update({ where: { id: "r000" }, data: { name: "c" } });
    expect(await stateOf("byName")).toBe("unique-pending");
    expect((await kv.get(["things_by_name", "a"])).value).toBe("r002");
    await db.things.delete({ where: { id: "r002" } });
    await expectReady();
    expect((await kv.get(["things_by_name", "a"])).value).toBe("r003");
  });

  it("refuses a value that its row gives up if another row is still to get it", async () => {
    await fill(["a", "b", "a"]);
    const create = (id: string, name: string) => async () => {
      const db = await open();
      const error = await rejection(db.things.create({ data: { id, name } }));
      expect(error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", ownerId: "r002" });
    };
    const steps = [undefined, create("between", "a")];
    const db = await open(interferingKv(kv, async () => await steps.shift()?.()));
    await db.things.delete({ where: { id: "r000" } });
    expect(steps).toEqual([]);
    await expectReady();
    expect((await kv.get(["things_by_name", "a"])).value).toBe("r002");
  });

  it("refuses it in every way of writing, after the program has died", async () => {
    await fill(["a", "b", "a", "c", "c"]);
    let commits = 0;
    const dying = await open(
      interferingKv(kv, async () => {
        if (++commits > 1) throw new Crash();
      }),
    );
    await dying.things.delete({ where: { id: "r000" } });
    expect((await kv.get(["things_by_name", "a"])).versionstamp).toBeNull();
    const db = await open();
    const data = { id: "new", name: "a" };
    const where = { id: "r001" };
    const upsert = { where: { id: "new" }, create: data, update: {} };
    const writes = [
      () => db.things.create({ data }),
      () => db.things.createMany({ data: [data], atomic: true }),
      () => db.things.update({ where, data: { name: "a" } }),
      () => db.things.upsert(upsert),
      () => db.transaction((tx) => tx.things.create({ data })),
    ];
    for (const write of writes) {
      const error = await rejection(write());
      expect(error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", ownerId: "r002" });
    }
    const many = await db.things.createMany({ data: [data] });
    expect(many.results).toMatchObject([{ error: { code: "KW_UNIQUE_CONSTRAINT" } }]);
    // A row that was deleted no longer has the value.
    await kv.delete(["things", "r002"]);
    await db.things.create({ data });
    await db.things.delete({ where: { id: "r003" } });
    await expectReady();
  });

  it.each<[string, (own: EmbeddedKv) => Kv]>([
    ["a database that returns expiry times", (own) => own],
    ["one that does not", denoKv],
  ])("refuses it after the row that had it has expired, on %s", async (_, adapt) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    try {
      const on = adapt(kv);
      const before = await createDatabase({ kv: on, models: { things: Plain } });
      await before.things.create({ data: { id: "r000", name: "a" }, expireIn: 1000 });
      await before.things.create({ data: { id: "r001", name: "a" } });
      const db = await open(on);
      expect((await migrate(db)).status).toBe("duplicates");
      vi.setSystemTime(Date.now() + 2000);
      const error = await rejection(db.things.create({ data: { id: "new", name: "a" } }));
      expect(error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", ownerId: "r001" });
      await db.things.update({ where: { id: "r001" }, data: { size: 1 } });
      expect((await migrate(db)).status).toBe("done");
      await expectReady();
      expect((await kv.get(["things_by_name", "a"])).value).toBe("r001");
    } finally {
      vi.useRealTimers();
    }
  });

  it("still waits while rows share another value", async () => {
    const { db } = await fill(["a", "b", "a", "b"]);
    await db.things.delete({ where: { id: "r002" } });
    expect(await stateOf("byName")).toBe("unique-pending");
    expect((await recorded()).map(({ value }) => value)).toEqual([["b"]]);
    await db.things.delete({ where: { id: "r001" } });
    await expectReady();
  });

  it("stays as it is if a repair records a duplicate just before it becomes readable", async () => {
    let commits = 0;
    const interfere = async () => {
      // The commits delete the row, then its record, then they make the index readable.
      if (++commits !== 3) return;
      await kv.set(["things", "by hand"], { id: "by hand", name: "b", tags: [], size: 0 });
      await verifyIndexes(await open(), { repair: true });
      expect(await recorded()).toHaveLength(1);
    };
    await fill(["a", "b", "a"]);
    const db = await open(interferingKv(kv, interfere));
    await db.things.delete({ where: { id: "r002" } });
    expect(commits).toBeGreaterThanOrEqual(3);
    expect(await stateOf("byName")).toBe("unique-pending");
    expect(await migrate(db)).toMatchObject({ status: "duplicates" });
    await db.things.delete({ where: { id: "by hand" } });
    await expectReady();
  });

  it("does not mind a write that leaves its values as they are", async () => {
    const { db } = await fill(["a", "b", "a"]);
    await db.things.update({ where: { id: "r002" }, data: { size: 1 } });
    await db.things.create({ data: { id: "new", name: "new" } });
    expect(await stateOf("byName")).toBe("unique-pending");
    expect(await recorded()).toHaveLength(1);
  });

  it("looks at all values of a row that has several", async () => {
    const before = await createDatabase({ kv, models: { things: Plain } });
    for (const [i, tags] of [["x", "y"], ["y"], ["x"]].entries()) {
      await before.things.create({ data: { id: `${i}`, name: `n${i}`, tags } });
    }
    const db = await open();
    expect((await migrate(db)).status).toBe("duplicates");
    expect(await stateOf("byName")).toBe("readable");
    await db.things.update({ where: { id: "0" }, data: { tags: [] } });
    expect(await stateOf("byTag")).toBe("readable");
    await expectReady();
  });

  it.each([
    ["the embedded database", (on: Kv) => on],
    ["a Deno KV", denoKv],
  ])("is resolved after writes of many rows on %s", async (_, wrap) => {
    const { db } = await fill(["a", "a", "a", "b", "b", "b"], wrap(kv));
    const ids =
      (...some: string[]) =>
      (row: { readonly id: string }) =>
        some.includes(row.id);
    await db.things.deleteMany({ filter: ids("r001", "r002") });
    expect(await stateOf("byName")).toBe("unique-pending");
    await db.things.updateMany({ filter: ids("r004"), data: { name: "c" } });
    expect(await stateOf("byName")).toBe("unique-pending");
    await db.things.updateMany({ filter: ids("r003"), data: { name: "d" }, atomic: true });
    await expectReady();
    expect((await kv.get(["things_by_name", "b"])).value).toBe("r005");
  });

  it("is resolved after the commit of a transaction", async () => {
    const { db } = await fill(["a", "b", "a"]);
    await db.transaction(async (tx) => {
      await tx.things.delete({ where: { id: "r002" } });
      expect(await stateOf("byName")).toBe("unique-pending");
    });
    await expectReady();
  });

  it("is not resolved by a transaction that did not end well", async () => {
    const { db } = await fill(["a", "b", "a"]);
    const failed = db.transaction(async (tx) => {
      await tx.things.delete({ where: { id: "r002" } });
      throw new Error("no");
    });
    expect((await rejection(failed)).message).toBe("no");
    expect(await stateOf("byName")).toBe("unique-pending");
    expect(await recorded()).toHaveLength(1);
  });

  it("is resolved after a delete that takes others with it", async () => {
    await fill(["a", "b", "a"]);
    const db = await createDatabase({ kv, models: { things: Thing, parts: Part } });
    await db.parts.create({ data: { id: "p", thing: "r002" } });
    await db.things.delete({ where: { id: "r002" } });
    expect((await db.parts.findMany({ where: { thing: "r002" } })).items).toEqual([]);
    await expectReady();
  });

  it("is resolved by the next write if a program dies after its own", async () => {
    const { db } = await fill(["a", "b", "a", "b"]);
    let commits = 0;
    const dying = await open(
      interferingKv(kv, async () => {
        if (++commits > 1) throw new Crash();
      }),
    );
    // The write is made: what comes behind it is no part of it.
    await dying.things.delete({ where: { id: "r002" } });
    expect(commits).toBeGreaterThan(1);
    expect(await recorded()).toHaveLength(2);
    await db.things.delete({ where: { id: "r003" } });
    await expectReady();
  });

  it("is resolved by the next migration too", async () => {
    const { db } = await fill(["a", "b", "a"]);
    await kv.delete(["things", "r002"]);
    expect((await migrate(db)).status).toBe("done");
    await expectReady();
  });

  it("costs writes nothing where no index waits", async () => {
    const { kv: counted, calls } = countingKv(kv);
    const { db } = await fill(["a", "b"], counted);
    const before = { ...calls };
    await db.things.delete({ where: { id: "r000" } });
    expect(calls.list - before.list).toBe(0);
    expect(calls.commit - before.commit).toBe(1);
  });

  it("is readable when whatever writes have made its values unique", async () => {
    const name = fc.constantFrom("a", "b", "c", "d", "e");
    const step = fc.oneof(
      fc.record({ kind: fc.constant("delete" as const), row: fc.nat(11) }),
      fc.record({ kind: fc.constant("update" as const), row: fc.nat(11), name }),
      fc.record({ kind: fc.constant("create" as const), row: fc.nat(11), name }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(name, { maxLength: 8 }),
        fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 10 }),
        async (names, rounds) => {
          const outer = kv;
          kv = await openKv();
          try {
            const { db } = await fill(names);
            for (const round of rounds) {
              await Promise.allSettled(
                round.map((one) => {
                  const id = `r${String(one.row).padStart(3, "0")}`;
                  if (one.kind === "delete") return db.things.delete({ where: { id } });
                  const { name } = one;
                  if (one.kind === "update")
                    return db.things.update({ where: { id }, data: { name } });
                  return db.things.create({ data: { id, name } });
                }),
              );
              const now: string[] = [];
              for await (const { value } of kv.list<{ name: string }>({ prefix: ["things"] })) {
                now.push(value.name);
              }
              const isUnique = new Set(now).size === now.length;
              if (isUnique) await expectReady();
              else expect(await stateOf("byName")).toBe("unique-pending");
            }
          } finally {
            await kv.close();
            kv = outer;
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("findDuplicates", () => {
  const list = async (query = {}) => {
    return await findDuplicates(await open(), { model: "things", index: "byName", ...query });
  };

  it("gives each value with all rows that have it, the one in the index first", async () => {
    await fill(["b", "a", "a", "b", "c", "a"]);
    expect(await list()).toEqual({
      items: [
        { value: ["a"], ids: ["r001", "r002", "r005"] },
        { value: ["b"], ids: ["r000", "r003"] },
      ],
      cursor: null,
    });
  });

  it("leaves out rows that were changed by hand since, and values that one row has", async () => {
    await fill(["a", "a", "a", "b", "b", "c", "c"]);
    await kv.set(["things", "r001"], { id: "r001", name: "x", tags: [], size: 0 });
    await kv.delete(["things", "r003"]);
    await kv.set(["things", "r005"], null);
    expect((await list()).items).toEqual([{ value: ["a"], ids: ["r000", "r002"] }]);
  });

  it("lists the row in the index for a program that was open before the migration", async () => {
    const before = await createDatabase({ kv, models: { things: Plain } });
    await before.things.createMany({ data: ["a", "b"].map((id) => ({ id, name: "twin" })) });
    const early = await open();
    await migrate(await open());
    const { items } = await findDuplicates(early, { model: "things", index: "byName" });
    expect(items).toEqual([{ value: ["twin"], ids: ["a", "b"] }]);
  });

  it("is empty for an index without any", async () => {
    await fill(["a", "b"]);
    expect(await list()).toEqual({ items: [], cursor: null });
  });

  it("goes through all of them in pages, also where one value has more rows than fit", async () => {
    await fill([...Array(25).fill("a"), ...Array(3).fill("b"), ...Array(2).fill("c"), "d"]);
    const seen = new Map<string, Set<unknown>>();
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page: Awaited<ReturnType<typeof list>> = await list({ take: 9, cursor });
      for (const { value, ids } of page.items) {
        const name = String(value[0]);
        const all = seen.get(name) ?? new Set();
        expect([...all].slice(0, 1)).toEqual(all.size === 0 ? [] : [ids[0]]);
        for (const id of ids) all.add(id);
        seen.set(name, all);
      }
      const kept = page.items.reduce((sum, { ids }) => sum + ids.length - 1, 0);
      expect(kept).toBeLessThanOrEqual(9);
      ({ cursor } = page);
      pages++;
    } while (cursor !== null);
    expect(pages).toBe(3);
    expect([...seen].map(([name, ids]) => [name, ids.size])).toEqual([
      ["a", 25],
      ["b", 3],
      ["c", 2],
    ]);
  });

  it.each([0, 1.5, -1])("refuses to take %s", async (take) => {
    await fill(["a"]);
    expect(await rejection(list({ take }))).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "take",
    });
  });

  it("a run tells of the first hundred and of how many there are", async () => {
    const { result } = await fill(Array(130).fill("a"));
    const index = result.indexes.find((one) => one.index === "byName");
    expect(index).toMatchObject({ state: "unique-pending", duplicateCount: 129 });
    expect(index?.duplicates).toHaveLength(100);
  });
});
