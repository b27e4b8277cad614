import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { defineModel } from "../src/index.js";
import type { AnyRow } from "../src/model/compiled-model.js";
import { chooseScan } from "../src/read/plan/choose-plan.js";
import type { AnyQuery } from "../src/state/context/any-query.js";
import { ReadMeter } from "../src/state/context/read-meter.js";
import type { TableContext } from "../src/state/context/table-context.js";
import { meterOf, put, tableOn } from "./query-table.js";
import { countRows, findFirstRow, findOne, findPage, rowExists, streamRows } from "./reads.js";
import { rejection } from "./user-model.js";

const scanPage: typeof findPage = (table, query, meter) =>
  findPage(table, query, meter, chooseScan);

const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.int(),
    author: z.string(),
    slug: z.string(),
    title: z.string(),
    tags: z.array(z.string()),
  }),
  primaryKey: "id",
  indexes: {
    byAuthor: { key: "author" },
    byTitle: { key: "title", include: ["author"] },
    bySlug: { key: "slug", unique: true },
    byTag: { key: "tags", each: true },
  },
});

let kv: EmbeddedKv;
let context: TableContext;
beforeEach(async () => {
  kv = await openKv();
  context = await tableOn(kv, Post);
  const post = (id: number): AnyRow => ({
    id,
    author: "ada",
    slug: `s${id}`,
    title: "t",
    tags: ["x", "y"],
  });
  await put(context, ...Array.from({ length: 10 }, (_, i) => post(i)));
});
afterEach(() => kv.close());

const where = { author: "ada" };
const some = (row: AnyRow) => Number(row.id) % 3 === 0;

/**
 * What a call reads, found out without a limit; then it has to do with that limit, and fail with
 * one less.
 */
async function readsOf(call: (meter: ReadMeter) => Promise<unknown>): Promise<number> {
  const meter = meterOf(context);
  const result = await call(meter);
  const exact = meterOf(context, meter.reads);
  expect(await call(exact)).toEqual(result);
  return meter.reads;
}

const all = async (query: AnyQuery, meter: ReadMeter) => {
  const rows: unknown[] = [];
  for await (const { row } of streamRows(context, query, meter)) rows.push(row);
  return rows;
};

describe("what is read", () => {
  it.each<[string, number, (meter: ReadMeter) => Promise<unknown>]>([
    ["a row by its primary key", 1, (meter) => findOne(context, { id: 1 }, meter)],
    ["a row by a unique index", 2, (meter) => findOne(context, { slug: "s1" }, meter)],
    ["no row by a unique index", 1, (meter) => findOne(context, { slug: "?" }, meter)],
    ["all rows of an index", 20, (meter) => findPage(context, { where }, meter)],
    ["no rows", 0, (meter) => findPage(context, { where: { author: "?" } }, meter)],
    ["the first row", 2, (meter) => findFirstRow(context, { where }, meter)],
    ["a stream", 20, (meter) => all({ where }, meter)],
    ["some of a stream", 6, (meter) => all({ where, take: 3 }, meter)],
    [
      "what an index holds",
      10,
      (meter) => findPage(context, { where: { title: "t" }, select: { author: true } }, meter),
    ],
    ["all rows with a filter", 20, (meter) => findPage(context, { where, filter: some }, meter)],
    ["a scan", 10, (meter) => scanPage(context, {}, meter)],
    ["some keys", 3, (meter) => findPage(context, { where: { id: { in: [1, 2, 99] } } }, meter)],
    ["a count", 10, (meter) => countRows(context, { where }, meter)],
    ["a count with a filter", 20, (meter) => countRows(context, { where, filter: some }, meter)],
    ["whether there is a row", 1, (meter) => rowExists(context, { where }, meter)],
    ["whether there is none", 0, (meter) => rowExists(context, { where: { author: "?" } }, meter)],
  ])("of %s is %i entries, and a limit of as many is enough", async (_, reads, call) => {
    expect(await readsOf(call)).toBe(reads);
    if (reads === 0) return;
    const error = await rejection(call(meterOf(context, reads - 1)));
    expect(error).toMatchObject({ code: "KW_READ_LIMIT", model: "posts", maxReads: reads - 1 });
  });
});

it("a page needs its own rows, and looks for another where it may", async () => {
  const meter = meterOf(context);
  const page = await findPage(context, { where, take: 4 }, meter);
  expect(meter.reads).toBe(9);
  const exact = meterOf(context, 8);
  expect(await findPage(context, { where, take: 4 }, exact)).toEqual(page);
  const few = findPage(context, { where, take: 4 }, meterOf(context, 7));
  expect(await rejection(few)).toMatchObject({ code: "KW_READ_LIMIT", index: "byAuthor" });
});

it("a page whose limit is used up has a cursor, behind which there may be nothing", async () => {
  const { cursor } = await findPage(context, { where, take: 10 }, meterOf(context, 20));
  const rest = await findPage(context, { where, cursor }, meterOf(context));
  expect(rest).toEqual({ items: [], cursor: null });
});

it("a filter is asked no more than is needed", async () => {
  const meter = meterOf(context);
  const { items } = await findPage(context, { where, filter: some, take: 2 }, meter);
  expect(items.map(({ row }) => row.id)).toEqual([0, 3]);
  expect(meter.reads).toBeLessThan(20);
  const query = { where, filter: some, take: 3 };
  const exact = await findPage(context, query, meterOf(context, 14));
  expect(exact.items.map(({ row }) => row.id)).toEqual([0, 3, 6]);
  const few = findPage(context, query, meterOf(context, 13));
  expect((await rejection(few)).code).toBe("KW_READ_LIMIT");
});

it("a row that an index has several times is read as often as it is met", async () => {
  const query = { where: { tags: { has: { gte: "x" } } } };
  expect(await readsOf((meter) => findPage(context, query, meter))).toBe(40);
  expect(await readsOf((meter) => countRows(context, query, meter))).toBe(20);
});

it.each([Number.NaN, -1, "2", null, undefined, {}, 5n])("a limit of %s is refused", (maxReads) => {
  expect(() => new ReadMeter("posts", maxReads as number)).toThrow(
    expect.objectContaining({
      code: "KW_ARGUMENT_INVALID",
      model: "posts",
      argument: "maxReads",
      reason: "it must be a number of at least 0",
    }),
  );
});

it("a limit of nothing allows what reads nothing", async () => {
  const none = findPage(context, { where: { author: "?" } }, meterOf(context, 0));
  expect((await none).items).toEqual([]);
  const one = findPage(context, { where }, meterOf(context, 0));
  expect((await rejection(one)).code).toBe("KW_READ_LIMIT");
});

it("whole keys of which some are not there are read together as far as a limit allows", async () => {
  const id = { in: [0, 1, 2, 100, 101, 102, 103, 104, 3, 4, 5, 6, 105, 106] };
  const tables: [AnyQuery, number][] = [
    [{ where: { id } }, 1],
    [{ where: { slug: { in: id.in.map((n) => `s${n}`) } } }, 2],
  ];
  for (const [query, cost] of tables) {
    for (let take = 1; take <= 7; take++) {
      const keys = [...id.in].sort((a, b) => (cost === 1 ? a - b : compare(`s${a}`, `s${b}`)));
      const isThere = (n: number) => n < 10;
      const last = keys.filter(isThere)[take - 1] ?? 0;
      const needed = keys.indexOf(last) + 1 + (cost - 1) * take;
      const found = await findPage(context, { ...query, take }, meterOf(context, needed));
      expect(found.items).toHaveLength(take);
      const few = findPage(context, { ...query, take }, meterOf(context, needed - 1));
      expect((await rejection(few)).code).toBe("KW_READ_LIMIT");
    }
  }
});

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}
