import { type EmbeddedKv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { defineModel, desc } from "../src/index.js";
import type { AnyRow } from "../src/model/compiled-model.js";
import { chooseScan } from "../src/read/plan/choose-plan.js";
import type { AnyQuery } from "../src/state/context/any-query.js";
import type { TableContext } from "../src/state/context/table-context.js";
import { meterOf, put, remove, tableOn } from "./query-table.js";
import { explainQuery, findPage, streamRows } from "./reads.js";
import { rejection } from "./user-model.js";

const scanPage: typeof findPage = (table, query, meter) =>
  findPage(table, query, meter, chooseScan);

const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.int(),
    team: z.string(),
    rank: z.int(),
    tags: z.array(z.string()),
  }),
  primaryKey: "id",
  indexes: {
    byTeamAndRank: { key: ["team", desc("rank")] },
    byRank: { key: "rank" },
    byTag: { key: "tags", each: true },
    byTeam: { key: "team", store: "copy" },
  },
});

const task = (id: number): AnyRow => ({
  id,
  team: id % 3 === 0 ? "blue" : "red",
  rank: id % 7,
  tags: ["x", "y", "z"].slice(0, id % 4),
});

let kv: EmbeddedKv;
let context: TableContext;
beforeEach(async () => {
  kv = await openKv();
  context = await tableOn(kv, Task);
});
afterEach(() => kv.close());

const page = (query: AnyQuery) => findPage(context, query, meterOf(context));
const ids = (rows: readonly { row: AnyRow }[]) => rows.map(({ row }) => row.id);

const queries: AnyQuery[] = [
  { where: { team: "red" }, index: "byTeam" },
  { where: { team: "red" }, orderBy: { rank: "asc" } },
  { orderBy: [{ team: "desc" }, { rank: "asc" }] },
  { where: { rank: { in: [5, 1, 3] } } },
  { where: { rank: { in: [5, 1, 3] } }, orderBy: { rank: "desc" } },
  { where: { tags: { has: { gte: "x" } } } },
  { where: { tags: { has: { in: ["z", "x"] } } }, orderBy: { tags: "desc" } },
  { where: { id: { in: [2, 3, 5, 7, 11, 13, 17, 1000] } } },
  { orderBy: { id: "desc" } },
];

it("pages of any size have exactly the rows of one read, while rows come and go before the cursor", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...queries),
      fc.integer({ min: 1, max: 9 }),
      fc.boolean(),
      async (query, take, isFiltered) => {
        const own = await openKv();
        try {
          const table = await tableOn(own, Task);
          await put(table, ...Array.from({ length: 30 }, (_, i) => task(i)));
          const filter = isFiltered ? (row: AnyRow) => Number(row.id) % 2 === 0 : undefined;
          const read = (options: AnyQuery) =>
            findPage(table, { ...query, filter, ...options }, meterOf(table));
          const all = ids((await read({})).items);
          const found: unknown[] = [];
          let cursor: string | null = null;
          const { reverse } = explainQuery(table, query);
          do {
            const { items, cursor: behind } = await read({ take, cursor });
            found.push(...ids(items));
            cursor = behind;
            const last = items.at(-1)?.row;
            if (last === undefined) continue;
            // The row at which the cursor stands goes away, and another takes its place in the
            // index.
            await remove(table, last);
            expect(found.length).toBeLessThan(100);
            await put(table, { ...last, id: Number(last.id) + (reverse ? 0.5 : -0.5) });
          } while (cursor !== null);
          expect(found.filter((id) => all.includes(id))).toEqual(all);
          expect(found.filter((id) => !all.includes(id) && Number(id) % 1 === 0)).toEqual([]);
        } finally {
          await own.close();
        }
      },
    ),
    { numRuns: 80 },
  );
});

it("a cursor is refused by every other query", async () => {
  await put(context, ...Array.from({ length: 30 }, (_, i) => task(i)));
  const first = await Promise.all(queries.map((query) => page({ ...query, take: 1 })));
  for (const [i, { cursor }] of first.entries()) {
    for (const [j, query] of queries.entries()) {
      const other = page({ ...query, take: 1, cursor });
      if (i === j) expect((await other).items).toHaveLength(1);
      else expect((await rejection(other)).code).toBe("KW_CURSOR_INVALID");
    }
  }
});

it("a cursor is refused by other values, other bounds, the other direction and another model", async () => {
  await put(context, ...Array.from({ length: 30 }, (_, i) => task(i)));
  const where = { team: "red", rank: { gte: 1, lt: 6 } };
  const { cursor } = await page({ where, take: 2 });
  const others: AnyQuery[] = [
    { where: { team: "blue", rank: { gte: 1, lt: 6 } } },
    { where: { team: "red", rank: { gte: 0, lt: 6 } } },
    { where: { team: "red", rank: { gte: 1, lte: 6 } } },
    { where: { team: "red", rank: { gte: 1 } } },
    { where: { team: { in: ["red", "blue"] }, rank: { gte: 1, lt: 6 } } },
    { where, orderBy: { rank: "asc" } },
  ];
  for (const other of others) {
    expect((await rejection(page({ ...other, cursor }))).code).toBe("KW_CURSOR_INVALID");
  }
  const renamed = await tableOn(kv, { ...Task, name: "jobs" });
  const inOther = findPage(renamed, { where, cursor }, meterOf(renamed));
  expect((await rejection(inOther)).code).toBe("KW_CURSOR_INVALID");
  expect((await page({ where, take: 2, cursor })).items).toHaveLength(2);
});

it("a cursor that was changed anywhere is refused", async () => {
  await put(context, ...Array.from({ length: 9 }, (_, i) => task(i)));
  const where = { team: "red" };
  const { cursor } = await page({ where, take: 1 });
  const text = cursor ?? "";
  const changed = [`${text}A`, `${text}=`, text.slice(0, -1), text.slice(1), "not a cursor", 7];
  for (let i = 0; i < text.length; i++) {
    const other = text[i] === "A" ? "B" : "A";
    changed.push(text.slice(0, i) + other + text.slice(i + 1));
  }
  for (const cursor of changed as string[]) {
    const error = await rejection(page({ where, cursor }));
    expect(error).toMatchObject({ code: "KW_CURSOR_INVALID", model: "tasks" });
  }
});

it("a cursor continues in the index that it began in, also where another is better now", async () => {
  await put(context, ...Array.from({ length: 9 }, (_, i) => task(i)));
  const { byTeam: _byTeam, ...indexes } = Task.indexes;
  const before = await tableOn(kv, { ...Task, indexes });
  const where = { team: "red" };
  const start = await findPage(before, { where, take: 2 }, meterOf(before));
  const meter = meterOf(context);
  const rest = await findPage(context, { where, cursor: start.cursor }, meter);
  expect(meter.index).toBe("byTeamAndRank");
  expect([...ids(start.items), ...ids(rest.items)]).toEqual([5, 4, 2, 8, 1, 7].toSorted(byRank));
});

const byRank = (a: number, b: number) => (b % 7) - (a % 7) || a - b;

it("a scan and a stream continue after a cursor", async () => {
  await put(context, ...Array.from({ length: 9 }, (_, i) => task(i)));
  const { cursor } = await scanPage(context, { take: 4 }, meterOf(context));
  const rest = await scanPage(context, { cursor }, meterOf(context));
  expect(ids(rest.items)).toEqual([4, 5, 6, 7, 8]);
  const where = { rank: { in: [1, 0] } };
  const first = await page({ where, take: 1 });
  const found: AnyRow[] = [];
  for await (const { row } of streamRows(
    context,
    { where, cursor: first.cursor },
    meterOf(context),
  )) {
    found.push(row);
  }
  expect(found.map(({ id }) => id)).toEqual([7, 1, 8]);
});

it("a page that ends with the rows has no cursor", async () => {
  await put(context, ...Array.from({ length: 6 }, (_, i) => task(i)));
  expect((await page({ where: { id: { in: [1, 2] } }, take: 2 })).cursor).toBeNull();
  expect((await page({ where: { tags: { has: { gte: "x" } } }, take: 4 })).cursor).toBeNull();
  expect((await page({ where: { tags: { has: { gte: "x" } } }, take: 3 })).cursor).not.toBeNull();
  expect((await scanPage(context, { take: 6 }, meterOf(context))).cursor).toBeNull();
});
