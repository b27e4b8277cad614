import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { changeMarkOfRead } from "../src/derived/changes/change-marks.js";
import { counterKey, rowCounterKey } from "../src/derived/counters/counter-keys.js";
import { createDatabase, defineModel } from "../src/index.js";
import type { AnyRow } from "../src/model/compiled-model.js";
import { chooseScan } from "../src/read/plan/choose-plan.js";
import type { AnyQuery } from "../src/state/context/any-query.js";
import { viewOf } from "../src/state/context/read-view.js";
import type { TableContext } from "../src/state/context/table-context.js";
import { TransactionKv } from "../src/state/transaction/transaction-kv.js";
import { createMatcher } from "../src/write/many/row-matcher.js";
import { interferingKv } from "./faulty-kv.js";
import { meterOf, put, recordingKv, tableOn } from "./query-table.js";
import {
  countRows,
  explainQuery,
  findFirstRow,
  findOne,
  findPage,
  rowExists,
  streamRows,
} from "./reads.js";
import { rejection } from "./user-model.js";

const scanPage: typeof findPage = (table, query, meter) =>
  findPage(table, query, meter, chooseScan);

const Book = defineModel({
  name: "books",
  schema: z.object({
    id: z.string(),
    isbn: z.string(),
    shelf: z.int(),
    title: z.string(),
    tags: z.array(z.string()),
  }),
  primaryKey: "id",
  indexes: {
    byIsbn: { key: "isbn", unique: true },
    byIsbnCopy: { key: ["isbn", "shelf"], unique: true, store: "copy" },
    byTitle: { key: "title", unique: true, include: ["shelf"] },
    byShelf: { key: "shelf", count: true },
    byShelfAndTitle: { key: ["shelf", "title"], store: "copy" },
    byTag: { key: "tags", each: true },
  },
  count: true,
  live: true,
});

const book = (n: number): AnyRow => ({
  id: `b${String(n).padStart(3, "0")}`,
  isbn: `i${n}`,
  shelf: n % 4,
  title: `t${n}`,
  tags: ["a", "b", "c"].slice(0, n % 4),
});

let kv: EmbeddedKv;
let calls: string[];
let context: TableContext;
beforeEach(async () => {
  kv = await openKv();
  const recorded = recordingKv(kv);
  calls = recorded.calls;
  context = await tableOn(recorded.kv, Book);
  await put(context, ...Array.from({ length: 120 }, (_, i) => book(i)));
  calls.length = 0;
});
afterEach(() => kv.close());

const page = (query: AnyQuery) => findPage(context, query, meterOf(context));
const one = async (where: AnyRow, query?: AnyQuery) =>
  await findOne(context, where, meterOf(context), query);

describe("findOne", () => {
  it("reads a row by its primary key, and by a pointer with the row", async () => {
    const versionstamp = (await kv.get(["books", "b007"])).versionstamp;
    const found = { primaryKey: ["b007"], row: book(7), versionstamp, expireAt: undefined };
    expect(await one({ id: "b007" })).toEqual(found);
    expect(calls).toEqual(["get"]);
    expect(await one({ isbn: "i7" })).toEqual(found);
    expect(calls).toEqual(["get", "get", "get"]);
    expect(await one({ id: "?" })).toBeUndefined();
    expect(await one({ isbn: "?" })).toBeUndefined();
  });

  it("reads an entry alone where it holds what is asked for, and never to write", async () => {
    const meter = meterOf(context);
    const copy = { isbn: "i7", shelf: 3 };
    expect((await findOne(context, copy, meter, { forWrite: false }))?.row).toEqual(book(7));
    expect(meter).toMatchObject({ reads: 1, index: "byIsbnCopy" });
    const selected = await one({ title: "t7" }, { select: { shelf: true }, forWrite: false });
    expect(selected).toMatchObject({ primaryKey: ["b007"], row: { shelf: 3 } });
    expect((await one({ title: "t7" }, { select: { isbn: true }, forWrite: false }))?.row).toEqual(
      book(7),
    );
    await kv.set(["books", "b007"], book(7));
    const { versionstamp } = await kv.get(["books", "b007"]);
    expect(await one(copy, { withVersionstamp: true, forWrite: false })).toMatchObject({
      versionstamp,
    });
    expect(await one(copy)).toMatchObject({ versionstamp, row: book(7) });
    expect((await one({ title: "t7" }, { select: { shelf: true } }))?.row).toEqual(book(7));
  });

  it("does not believe an entry that does not fit the row", async () => {
    await kv.set(["books_by_isbn", "other"], "b007");
    await kv.set(["books_by_isbn_copy", "other", 3], book(7));
    await kv.set(["books_by_isbn", "gone"], "b999");
    await kv.set(["books_by_isbn", "odd"], { not: "a key" });
    expect(await one({ isbn: "other" })).toBeUndefined();
    expect(await one({ isbn: "other", shelf: 3 })).toBeUndefined();
    expect(await one({ isbn: "other", shelf: 3 }, { forWrite: false })).toBeUndefined();
    expect(await one({ isbn: "gone" })).toBeUndefined();
    expect(await one({ isbn: "odd" })).toBeUndefined();
  });

  it("refuses what is no value", async () => {
    for (const where of [{ id: undefined }, { id: null }, { isbn: { gt: "a" } }, {}]) {
      expect((await rejection(one(where))).code).toBe("KW_QUERY_INVALID");
    }
    expect((await rejection(one({ shelf: 1 }))).code).toBe("KW_QUERY_UNINDEXED");
  });

  it("refuses a value of another kind than the field's, and one that no key holds", async () => {
    const error = { code: "KW_QUERY_INVALID", field: "id" };
    const reason = "it is a number, but the field holds strings";
    expect(await rejection(one({ id: 7 }))).toMatchObject({ ...error, reason });
    expect(await rejection(one({ id: "\ud83d" }))).toMatchObject(error);
    for (const where of [{ isbn: 7 }, { isbn: new Date() }, { isbn: "\ud83d" }]) {
      expect(await rejection(one(where))).toMatchObject({ ...error, field: "isbn" });
    }
  });

  it("leaves what normalize takes to it, and names the field of what it does not take", async () => {
    const cause = new Error("no name");
    const normalize = (title: unknown): string => {
      if (title === "?") throw cause;
      return String(title).toUpperCase();
    };
    const loose = await tableOn(kv, {
      ...Book,
      name: "loose",
      indexes: { byTitle: { key: "title", unique: true, normalize } },
    });
    await put(loose, { ...book(1), title: "7" });
    const { row } = (await findOne(loose, { title: 7 }, meterOf(loose))) ?? {};
    expect(row?.id).toBe("b001");
    const { items } = await findPage(loose, { where: { title: 7 } }, meterOf(loose));
    expect(items).toHaveLength(1);
    const error = { code: "KW_QUERY_INVALID", model: "loose", field: "title", cause };
    const where = { title: "?" };
    expect(await rejection(findOne(loose, where, meterOf(loose)))).toMatchObject(error);
    expect(await rejection(findPage(loose, { where }, meterOf(loose)))).toMatchObject(error);
  });
});

describe("findPage", () => {
  it("reads a hundred rows with one list and one getMany, whole keys without a list", async () => {
    const { items } = await page({ where: { tags: { has: { in: ["a", "b"] } } }, take: 100 });
    expect(items).toHaveLength(90);
    calls.length = 0;
    expect((await page({ index: "byShelf", take: 100 })).items).toHaveLength(100);
    expect(calls).toEqual(["list", "getMany 100"]);
    calls.length = 0;
    const id = { in: ["b003", "?", "b001"] };
    expect((await page({ where: { id } })).items.map(({ row }) => row.id)).toEqual([
      "b001",
      "b003",
    ]);
    expect(calls).toEqual(["getMany 3"]);
    calls.length = 0;
    expect((await page({ where: { shelf: 1, title: "t1" } })).items).toHaveLength(1);
    expect(calls).toEqual(["list"]);
  });

  it("reads many whole keys of which few are there in few reads", async () => {
    const absent = Array.from({ length: 900 }, (_, i) => `b0${i}?`);
    const where = { id: { in: absent } };
    const reads: [() => Promise<unknown>, unknown][] = [
      [() => findFirstRow(context, { where }, meterOf(context)), undefined],
      [() => rowExists(context, { where }, meterOf(context)), false],
      [() => page({ where, take: 1 }), { items: [], cursor: null }],
    ];
    for (const [read, result] of reads) {
      calls.length = 0;
      expect(await read()).toEqual(result);
      expect(calls.length).toBeLessThan(12);
    }
    const some = { id: { in: [...absent, ...Array.from({ length: 50 }, (_, i) => book(i).id)] } };
    const found: unknown[] = [];
    let cursor: string | null = null;
    do {
      const next: Awaited<ReturnType<typeof page>> = await page({ where: some, take: 7, cursor });
      found.push(...next.items.map(({ row }) => row.id));
      cursor = next.cursor;
    } while (cursor !== null);
    expect(found).toEqual(Array.from({ length: 50 }, (_, i) => book(i).id));
  });

  it.each<[string, string, AnyRow]>([
    ["shelf", "a string, but the field holds numbers", { shelf: "1" }],
    ["shelf", "a string", { shelf: { in: [1, "2"] } }],
    ["title", "a number", { shelf: 1, title: { gte: 5 } }],
    ["title", "a date", { shelf: 1, title: { between: [new Date(), new Date()] } }],
    ["tags", "a bigint", { tags: { has: 1n } }],
    ["tags", "a boolean", { tags: { has: { in: [true] } } }],
    ["id", "bytes", { id: new Uint8Array() }],
  ])("refuses for %s a value that is %s", async (field, kind, where) => {
    const error = {
      code: "KW_QUERY_INVALID",
      field,
      reason: expect.stringContaining(`it is ${kind}`),
    };
    expect(await rejection(page({ where }))).toMatchObject(error);
    expect(await rejection(countRows(context, { where }, meterOf(context)))).toMatchObject(error);
    expect(await rejection(rowExists(context, { where }, meterOf(context)))).toMatchObject(error);
    expect(() => explainQuery(context, { where })).toThrow(expect.objectContaining(error));
  });

  it("takes any value for a field of several kinds, and a date as its milliseconds", async () => {
    const Mixed = defineModel({
      name: "mixed",
      schema: z.object({
        id: z.union([z.string(), z.int()]),
        at: z.date().optional(),
        code: z.string().transform((code) => code as unknown),
        bytes: z.instanceof(Uint8Array).nullable(),
      }),
      primaryKey: "id",
      indexes: { byAt: { key: "at" }, byCode: { key: "code" as never }, byBytes: { key: "bytes" } },
    });
    const mixed = await tableOn(kv, Mixed);
    const bytes = Uint8Array.of(1);
    await put(mixed, { id: 5, at: new Date(7), code: 1n, bytes });
    for (const where of [{ id: 5 }, { at: new Date(7) }, { at: 7 }, { code: 1n }, { bytes }]) {
      const { items } = await findPage(mixed, { where }, meterOf(mixed));
      expect(items).toHaveLength(1);
    }
    const text = findPage(mixed, { where: { at: { gte: "1970-01-01" } } }, meterOf(mixed));
    expect(await rejection(text)).toMatchObject({ code: "KW_QUERY_INVALID", field: "at" });
    const list = findPage(mixed, { where: { bytes: "a" } }, meterOf(mixed));
    expect(await rejection(list)).toMatchObject({ code: "KW_QUERY_INVALID", field: "bytes" });
  });

  it("reads the rows of a copy where their own versionstamps are asked for", async () => {
    await kv.set(["books", "b001"], book(1));
    const { versionstamp } = await kv.get(["books", "b001"]);
    const where = { shelf: 1, title: "t1" };
    const plain = await page({ where });
    expect(plain.items[0]?.versionstamp).not.toBe(versionstamp);
    const exact = await page({ where, withVersionstamp: true });
    expect(exact.items[0]).toMatchObject({ row: book(1), versionstamp });
  });

  it("returns no row that does not have the entry's key, and none twice", async () => {
    await kv.set(["books_by_tag", "zzz", "b001"], "b001");
    await kv.set(["books_by_tag", "zzz", "b999"], "b999");
    await kv.set(["books_by_tag", "zzz", "b001", "more"], "b001");
    expect((await page({ where: { tags: { has: { gt: "c" } } } })).items).toEqual([]);
    const ids = (await page({ where: { tags: { has: { gte: "a" } } } })).items.map(
      ({ row }) => row.id,
    );
    expect(ids).toHaveLength(90);
    expect(new Set(ids).size).toBe(90);
  });

  it("uses an index that is built, where there is one", async () => {
    const { byShelfAndTitle, byIsbn } = Book.indexes;
    const Later = defineModel({
      ...Book,
      indexes: { byIsbn, byShelfLater: { key: "shelf" }, byShelfAndTitle },
    });
    const later = await tableOn(kv, Later);
    const meter = meterOf(later);
    const { items } = await findPage(later, { where: { shelf: 1 } }, meter);
    expect(items).toHaveLength(30);
    expect(meter.index).toBe("byShelfAndTitle");
    const unbuilt = findPage(later, { index: "byShelfLater" }, meterOf(later));
    expect(await rejection(unbuilt)).toMatchObject({ code: "KW_INDEX_NOT_READY" });
  });
});

describe("a stored value that is no row", () => {
  it.each([[null], [7], [["a"]]])("is an error, not a row: %j", async (value) => {
    await kv.set(["books", "b003"], value);
    const error = { code: "KW_STORED_ROW_INVALID", model: "books", id: "b003" };
    expect(await rejection(one({ id: "b003" }))).toMatchObject(error);
    expect(await rejection(page({ where: { tags: { has: "a" } } }))).toMatchObject(error);
    expect(await rejection(scanPage(context, {}, meterOf(context)))).toMatchObject(error);
  });

  it("is, with validateReads, one that does not fit the schema", async () => {
    const strict = await tableOn(kv, Book, { validateReads: true });
    expect((await findOne(strict, { id: "b003" }, meterOf(strict)))?.row).toEqual(book(3));
    const bad = { ...book(3), title: 3 };
    await put(context, bad);
    expect((await one({ id: "b003" }))?.row).toEqual(bad);
    const error = { code: "KW_STORED_ROW_INVALID", id: "b003", issues: [{ path: ["title"] }] };
    for (const where of [{ id: "b003" }, { isbn: "i3" }, { isbn: "i3", shelf: 3 }]) {
      expect(await rejection(findOne(strict, where, meterOf(strict)))).toMatchObject(error);
    }
    const queries: AnyQuery[] = [
      { where: { shelf: 3 }, orderBy: { title: "asc" } },
      { where: { tags: { has: "a" } } },
      { where: { id: "b003" } },
    ];
    for (const query of queries) {
      expect(await rejection(findPage(strict, query, meterOf(strict)))).toMatchObject(error);
    }
  });
});

describe("streamRows", () => {
  it("reads little for who leaves early, and all for who stays", async () => {
    const meter = meterOf(context);
    for await (const { row } of streamRows(context, { index: "byShelf" }, meter)) {
      if (row.id === "b004") break;
    }
    expect(meter.reads).toBeLessThanOrEqual(64);
    let count = 0;
    for await (const _ of streamRows(context, { index: "byShelf" }, meterOf(context))) count++;
    expect(count).toBe(120);
  });
});

describe("a filter", () => {
  const calls: [string, (filter: AnyQuery["filter"]) => Promise<unknown>][] = [
    ["findMany", (filter) => page({ where: { shelf: 1 }, filter })],
    [
      "findFirst",
      (filter) => findFirstRow(context, { index: "byShelf", filter }, meterOf(context)),
    ],
    ["scan", (filter) => scanPage(context, { filter }, meterOf(context))],
    ["count", (filter) => countRows(context, { filter }, meterOf(context))],
    ["exists", (filter) => rowExists(context, { where: { shelf: 1 }, filter }, meterOf(context))],
    [
      "a change of many",
      async (filter) =>
        (await createMatcher(viewOf(context), { where: { shelf: 1 }, filter }))(
          {
            primaryKey: ["b001"],
            row: book(1),
            versionstamp: "",
          },
          viewOf(context),
        ),
    ],
  ];

  it.each(calls)("of %s is refused where it answers with a promise", async (_, call) => {
    const asynchronous: unknown[] = [
      async () => false,
      async () => {
        throw new Error("nobody hears of it");
      },
      // biome-ignore lint/suspicious/noThenProperty: what has it is taken for a promise
      () => ({ then: () => undefined }),
    ];
    for (const filter of asynchronous) {
      expect(await rejection(call(filter as never))).toMatchObject({
        code: "KW_ARGUMENT_INVALID",
        argument: "filter",
        reason: "it returned a promise; it must be synchronous",
      });
    }
  });

  it.each(calls)("of %s is refused where it is no function", async (_, call) => {
    for (const filter of [null, { shelf: 1 }, "shelf"]) {
      const error = { code: "KW_ARGUMENT_INVALID", argument: "filter" };
      expect(await rejection(call(filter as never))).toMatchObject(error);
    }
  });
});

describe("countRows", () => {
  const count = async (query: AnyQuery) => {
    const meter = meterOf(context);
    return [await countRows(context, query, meter), meter.reads];
  };

  it("reads what the model keeps, where that is all that is asked for", async () => {
    const byShelf = context.model.indexes.find(({ name }) => name === "byShelf")!;
    await kv.atomic().sum(rowCounterKey(context.model), 1200n).commit();
    await kv
      .atomic()
      .sum(counterKey(byShelf, [1]), 300n)
      .commit();
    await kv
      .atomic()
      .sum(counterKey(byShelf, [2]), 40n)
      .commit();
    expect(await count({})).toEqual([1200, 1]);
    expect(await count({ where: { shelf: 1 } })).toEqual([300, 1]);
    expect(await count({ where: { shelf: { in: [1, 2, 1, 9] } } })).toEqual([340, 3]);
    expect(await count({ where: { shelf: { gte: 1, lte: 2 } } })).toEqual([340, 2]);
    expect(await count({ where: { shelf: 1, id: { lt: "b010" } } })).toEqual([3, 3]);
    expect(await count({ filter: (row: AnyRow) => row.shelf === 1 })).toEqual([30, 120]);
    expect(await count({ where: { tags: { has: "b" } } })).toEqual([60, 60]);
  });

  it("counts what is there where the count is not complete", async () => {
    const plain = await openKv();
    try {
      const { count: _count, ...uncounted } = Book;
      const before = await tableOn(plain, {
        ...uncounted,
        indexes: { byIsbn: Book.indexes.byIsbn },
        count: false,
      });
      await put(before, book(1), book(2));
      const now = await tableOn(plain, { ...Book, indexes: { byIsbn: Book.indexes.byIsbn } });
      expect(await countRows(now, {}, meterOf(now))).toBe(2);
    } finally {
      await plain.close();
    }
  });

  it("tells whether there is a row", async () => {
    const exists = (query: AnyQuery) => rowExists(context, query, meterOf(context));
    expect(await exists({})).toBe(true);
    expect(await exists({ where: { shelf: 9 } })).toBe(false);
    expect(await exists({ filter: (row: AnyRow) => row.id === "b119" })).toBe(true);
    expect(await exists({ where: { shelf: 1 }, filter: () => false })).toBe(false);
  });
});

describe("in a transaction", () => {
  /**
   * Whether a transaction is committed that reads, while another marks a change of a part of the
   * model.
   */
  const commits = async (read: (within: TableContext) => Promise<unknown>, table = context) => {
    // A database that cannot check ranges.
    const plain = interferingKv(
      kv,
      async () => undefined,
      async () => undefined,
    );
    const tx = new TransactionKv(plain);
    await read({ ...table, kv: tx, transaction: tx });
    const byShelf = table.model.indexes.find(({ name }) => name === "byShelf");
    const marks = [
      changeMarkOfRead(table.model, undefined, []),
      changeMarkOfRead(table.model, byShelf, [1]),
    ];
    for (const mark of marks) await kv.atomic().sum(mark, 1n).commit();
    await tx.set(["other"], 1);
    return (await tx.commit()).ok;
  };

  it("a read of a range does not hold where something comes into it", async () => {
    const where = { shelf: 1, id: { gt: "b050" } };
    const reads: ((within: TableContext) => Promise<unknown>)[] = [
      (within) => findPage(within, { where }, meterOf(within)),
      (within) => countRows(within, { where }, meterOf(within)),
      (within) => rowExists(within, { where }, meterOf(within)),
      (within) => scanPage(within, { take: 1 }, meterOf(within)),
    ];
    for (const read of reads) expect(await commits(read)).toBe(false);
  });

  it("a read of whole keys holds, and any of a model that keeps no record of its changes", async () => {
    const id = { in: ["b001", "?"] };
    const points = (within: TableContext) => findPage(within, { where: { id } }, meterOf(within));
    expect(await commits(points)).toBe(true);
    const still = await tableOn(kv, { ...Book, live: false });
    const range = (within: TableContext) =>
      findPage(within, { where: { shelf: 1 } }, meterOf(within));
    expect(await commits(range, still)).toBe(true);
  });
});

it.each([
  ["isOpen", { gt: true }],
  ["isOpen", { lt: false }],
  ["width", { gt: 2, lt: 2 }],
])("a range of %s that contains no value has no rows: %o", async (field, range) => {
  const Door = defineModel({
    name: "doors",
    schema: z.object({ id: z.string(), isOpen: z.boolean(), width: z.number() }),
    primaryKey: "id",
    indexes: { byIsOpen: { key: "isOpen" }, byWidth: { key: "width" } },
  });
  const { doors } = await createDatabase({ kv, models: { doors: Door } });
  for (const isOpen of [false, true])
    await doors.create({ data: { id: `${isOpen}`, isOpen, width: 2 } });
  const where = { [field]: range } as never;
  expect(await doors.findMany({ where })).toEqual({ items: [], cursor: null });
  expect(await doors.count({ where })).toBe(0);
  expect(await doors.exists({ where })).toBe(false);
});
