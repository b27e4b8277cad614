import {
  denoOrder,
  encodeKey,
  type KeyOrder,
  type Kv,
  openKv,
  specificationOrder,
} from "@keywright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineModel, desc } from "../src/index.js";
import type { AnyRow } from "../src/model/compiled-model.js";
import { chooseScan } from "../src/read/plan/choose-plan.js";
import type { AnyQuery, FoundRow } from "../src/state/context/any-query.js";
import type { TableContext } from "../src/state/context/table-context.js";
import { denoKv } from "./faulty-kv.js";
import { meterOf, put, tableOn } from "./query-table.js";
import { countRows, findPage, rowExists, streamRows } from "./reads.js";

const scanPage: typeof findPage = (table, query, meter) =>
  findPage(table, query, meter, chooseScan);
const scanRows: typeof streamRows = (table, query, meter) =>
  streamRows(table, query, meter, chooseScan);

const Animal = defineModel({
  name: "animals",
  schema: z.object({
    id: z.string(),
    a: z.string(),
    n: z.number(),
    big: z.bigint().optional(),
    when: z.date(),
    bytes: z.instanceof(Uint8Array),
    flag: z.boolean(),
    mixed: z.union([z.string(), z.number(), z.bigint(), z.boolean()]),
    tags: z.array(z.string()),
  }),
  primaryKey: ["a", "id"],
  indexes: {
    byN: { key: desc("n"), include: ["flag"] },
    byFlagAndN: { key: ["flag", desc("n")] },
    byNAndFlagAndA: { key: [desc("n"), "flag", "a"] },
    byBig: { key: "big" },
    byFlagAndBig: { key: ["flag", "big"], store: "copy" },
    byWhen: { key: ["when", "n"] },
    byBytes: { key: "bytes" },
    byMixed: { key: "mixed" },
    byMixedDown: { key: [desc("mixed"), "flag"] },
    byTag: { key: "tags", each: true },
    byTagCopy: { key: "tags", each: true, store: "copy" },
    byTagIncluding: { key: ["tags", "flag"], each: true, include: ["n"] },
    byFlagAndTag: { key: ["flag", "tags"], each: true },
    byTagDown: { key: [desc("n"), "tags"], each: true },
    byOpen: { key: "n", where: (row) => row.flag },
    byLength: { key: (row) => (row.tags.length === 0 ? undefined : row.tags.length) },
    byUnique: { key: ["n", "a", "id"], unique: true },
    byLower: { key: "id", normalize: (id) => id.toLowerCase() },
    byFlagAndLower: { key: ["flag", desc("id")], normalize: { id: (id) => id.toLowerCase() } },
    byAAndLowerTag: {
      key: ["a", "tags"],
      each: true,
      normalize: { tags: (tag) => tag.toLowerCase() },
    },
  },
});

/**
 * The parts of each index's key: a field or a function, whether it descends, and whether it has the
 * elements of an array.
 */
const parts: Record<string, readonly Part[]> = {
  primaryKey: [up("a"), up("id")],
  byN: [down("n"), up("a"), up("id")],
  byFlagAndN: [up("flag"), down("n"), up("a"), up("id")],
  byNAndFlagAndA: [down("n"), up("flag"), up("a"), up("a"), up("id")],
  byBig: [up("big"), up("a"), up("id")],
  byFlagAndBig: [up("flag"), up("big"), up("a"), up("id")],
  byWhen: [up("when"), up("n"), up("a"), up("id")],
  byBytes: [up("bytes"), up("a"), up("id")],
  byMixed: [up("mixed"), up("a"), up("id")],
  byMixedDown: [down("mixed"), up("flag"), up("a"), up("id")],
  byTag: [each("tags"), up("a"), up("id")],
  byTagCopy: [each("tags"), up("a"), up("id")],
  byTagIncluding: [each("tags"), up("flag"), up("a"), up("id")],
  byFlagAndTag: [up("flag"), each("tags"), up("a"), up("id")],
  byTagDown: [down("n"), each("tags"), up("a"), up("id")],
  byOpen: [up("n"), up("a"), up("id")],
  byLength: [
    { ...up("byLength"), of: ({ tags }) => (tags as string[]).length || undefined },
    up("a"),
    up("id"),
  ],
  byUnique: [up("n"), up("a"), up("id")],
  byLower: [lower(up("id")), up("a"), up("id")],
  byFlagAndLower: [up("flag"), lower(down("id")), up("a"), up("id")],
  byAAndLowerTag: [up("a"), lower(each("tags")), up("a"), up("id")],
};

interface Part {
  readonly name: string;
  readonly descending: boolean;
  readonly each: boolean;
  readonly of: (row: AnyRow) => unknown;
  readonly map: (value: unknown) => unknown;
}

function up(name: string): Part {
  return { name, descending: false, each: false, of: (row) => row[name], map: (value) => value };
}
function down(name: string): Part {
  return { ...up(name), descending: true };
}
function each(name: string): Part {
  return { ...up(name), each: true };
}
/** A part that is held in lower case. */
function lower(part: Part): Part {
  const map = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(map) : String(value).toLowerCase();
  return { ...part, of: (row) => map(row[part.name]), map };
}

const letters = fc.constantFrom(
  "a",
  "A",
  "b",
  "ab",
  "a\0",
  "B\u{10ffff}",
  "b\ud7ff",
  "\uffff",
  "😀",
  "",
);
const values: Record<string, fc.Arbitrary<unknown>> = {
  id: letters,
  a: fc.constantFrom("x", "y"),
  n: fc.constantFrom(-1, -0, 0, 1, 2.5, Number.MAX_VALUE),
  big: fc.constantFrom(-300n, 0n, 7n, 1n << 70n),
  when: fc.constantFrom(0, -5, 1e12).map((time) => new Date(time)),
  bytes: fc.constantFrom([], [0], [0, 255], [1], [255]).map((bytes) => Uint8Array.from(bytes)),
  flag: fc.boolean(),
  mixed: fc.constantFrom<unknown>("", "m", 0, 5, -3n, 9n, true, false, Number.NEGATIVE_INFINITY),
  tags: letters,
  byLength: fc.constantFrom(1, 2, 3),
};

const rowArbitrary = fc.record({
  id: letters,
  a: values.a!,
  n: values.n!,
  big: fc.option(values.big!, { nil: undefined }),
  when: values.when!,
  bytes: values.bytes!,
  flag: fc.boolean(),
  mixed: values.mixed!,
  tags: fc.array(letters, { maxLength: 4 }),
}) as fc.Arbitrary<AnyRow>;

const rowsArbitrary = fc.uniqueArray(rowArbitrary, {
  maxLength: 25,
  selector: ({ a, id }) => `${a} ${id}`,
});

/** A condition on a part, as the query says it and as a plain function says it. */
interface Asked {
  readonly part: Part;
  readonly condition: unknown;
  readonly holds: (value: unknown) => boolean;
}

const plain = (value: unknown) =>
  value instanceof Date ? value.getTime() : value === 0 ? 0 : value;

function compareValues(a: unknown, b: unknown, order: KeyOrder): number {
  const bytes = (value: unknown) => encodeKey([plain(value) as string], order);
  return Buffer.compare(bytes(a), bytes(b));
}

const isSame = (a: unknown, b: unknown) => compareValues(a, b, specificationOrder) === 0;

function typeOf(value: unknown): string {
  return typeof plain(value);
}

function equalOf(part: Part): fc.Arbitrary<Asked> {
  const one = values[part.name]!;
  return fc.oneof(
    one.map((value) => ({
      part,
      condition: value,
      holds: (own: unknown) => isSame(own, part.map(value)),
    })),
    fc.array(one, { maxLength: 3 }).map((list) => ({
      part,
      condition: { in: list },
      holds: (own: unknown) => list.some((value) => isSame(own, part.map(value))),
    })),
  );
}

function rangeOf(part: Part): fc.Arbitrary<Asked> {
  const one = values[part.name]!.map((value) => value);
  const tests: Record<string, (difference: number) => boolean> = {
    gt: (difference) => difference > 0,
    gte: (difference) => difference >= 0,
    lt: (difference) => difference < 0,
    lte: (difference) => difference <= 0,
  };
  const bound = (names: string[]) => fc.option(fc.tuple(fc.constantFrom(...names), one));
  const bounds = fc
    .tuple(bound(["gt", "gte"]), bound(["lt", "lte"]))
    .map((pair) => pair.filter((entry) => entry !== null))
    .filter((pair) => pair.length > 0 && new Set(pair.map(([, value]) => typeOf(value))).size === 1)
    .map((pair) => ({
      part,
      condition: Object.fromEntries(pair),
      holds: (own: unknown) =>
        pair.every(
          ([name, value]) =>
            typeOf(own) === typeOf(part.map(value)) &&
            tests[name]!(compareValues(own, part.map(value), specificationOrder)),
        ),
    }));
  const between = fc
    .tuple(one, one)
    .filter(([from, to]) => typeOf(from) === typeOf(to))
    .map((pair) => ({
      part,
      condition: { between: pair },
      holds: (own: unknown) =>
        typeOf(own) === typeOf(part.map(pair[0])) &&
        compareValues(own, part.map(pair[0]), specificationOrder) >= 0 &&
        compareValues(own, part.map(pair[1]), specificationOrder) <= 0,
    }));
  const starts = letters.map((prefix) => ({
    part,
    condition: { startsWith: prefix },
    holds: (own: unknown) => typeof own === "string" && own.startsWith(String(part.map(prefix))),
  }));
  const isText = ["a", "id", "tags", "mixed"].includes(part.name);
  return isText ? fc.oneof(bounds, between, starts) : fc.oneof(bounds, between);
}

interface Case {
  readonly index: string;
  readonly asked: readonly Asked[];
  readonly reverse: boolean;
}

/**
 * A query of an index by name: values for some of its first parts, a range on the next, forward or
 * backward.
 */
const caseArbitrary: fc.Arbitrary<Case> = fc.constantFrom(...Object.keys(parts)).chain((index) => {
  const own = parts[index]!.filter(
    ({ name }, i) => parts[index]!.findIndex((other) => other.name === name) === i,
  );
  return fc.integer({ min: 0, max: own.length }).chain((count) =>
    fc
      .tuple(
        fc.tuple(...own.slice(0, count).map((part) => equalOf(part))),
        count < own.length ? fc.option(rangeOf(own[count]!)) : fc.constant(null),
        fc.boolean(),
      )
      .map(([equal, range, reverse]) => ({
        index,
        asked: range === null ? equal : [...equal, range],
        reverse,
      })),
  );
});

function queryOf({ index, asked, reverse }: Case): AnyQuery {
  const where = Object.fromEntries(
    asked.map(({ part, condition }) => [part.name, part.each ? { has: condition } : condition]),
  );
  const pinned = new Set(
    asked.filter(({ condition }) => isOneValue(condition)).map(({ part }) => part.name),
  );
  const free = parts[index]!.find(({ name }) => !pinned.has(name)) ?? parts[index]![0]!;
  const orderBy = { [free.name]: reverse !== free.descending ? "desc" : "asc" } as const;
  return { where, orderBy, ...(index !== "primaryKey" && { index }) };
}

function isOneValue(condition: unknown): boolean {
  if (typeof condition !== "object" || condition === null) return true;
  return condition instanceof Date || condition instanceof Uint8Array;
}

/** The rows that a query has, in its order, by a plain walk over all rows. */
function expected(
  rows: readonly AnyRow[],
  { index, asked, reverse }: Case,
  order: KeyOrder,
): AnyRow[] {
  const own = parts[index]!;
  const entries = rows
    .filter((row) => index !== "byOpen" || row.flag === true)
    .flatMap((row) => {
      const element = own.find((part) => part.each);
      const elements = element === undefined ? [undefined] : (element.of(row) as unknown[]);
      return elements.map((value) => ({
        row,
        tuple: own.map((part) => (part.each ? value : part.of(row))),
      }));
    })
    .filter(({ tuple }) => !tuple.includes(undefined))
    .filter(({ tuple }) => asked.every(({ part, holds }) => holds(tuple[own.indexOf(part)])))
    .sort((a, b) => {
      for (const [i, part] of own.entries()) {
        const difference = part.descending
          ? compareValues(b.tuple[i], a.tuple[i], order)
          : compareValues(a.tuple[i], b.tuple[i], order);
        if (difference !== 0) return difference;
      }
      return 0;
    });
  if (reverse) entries.reverse();
  return [...new Set(entries.map(({ row }) => row))];
}

const name = ({ a, id }: AnyRow) => `${a} ${id}`;
const namesOf = (found: readonly FoundRow[]) => found.map(({ row }) => name(row));

async function collect(rows: AsyncIterable<FoundRow>): Promise<FoundRow[]> {
  const found: FoundRow[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

async function pages(context: TableContext, query: AnyQuery, take: number): Promise<FoundRow[]> {
  const found: FoundRow[] = [];
  let cursor: string | null = null;
  do {
    const page = await findPage(context, { ...query, take, cursor }, meterOf(context));
    expect(page.items.length).toBeLessThanOrEqual(take);
    if (page.cursor !== null) expect(page.items.length).toBe(take);
    found.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== null);
  return found;
}

const databases: [string, KeyOrder, () => Promise<Kv>, number][] = [
  ["a database in memory", specificationOrder, () => openKv(), 120],
  ["one in Deno's mode", denoOrder, () => openKv(":memory:", { compat: "deno" }), 40],
  ["one with Deno's interface", specificationOrder, async () => denoKv(await openKv()), 40],
];

describe.each(databases)("on %s", (_, order, open, numRuns) => {
  const withRows = async (
    rows: readonly AnyRow[],
    test: (context: TableContext) => Promise<void>,
  ) => {
    const kv = await open();
    try {
      const context = await tableOn(kv, Animal);
      await put(context, ...rows);
      await test(context);
    } finally {
      await kv.close();
    }
  };

  it("a query has the rows that a walk over all rows finds, in the order of its index", async () => {
    await fc.assert(
      fc.asyncProperty(
        rowsArbitrary,
        fc.array(caseArbitrary, { minLength: 6, maxLength: 6 }),
        fc.integer({ min: 1, max: 8 }),
        async (rows, cases, take) => {
          await withRows(rows, async (context) => {
            for (const one of cases) {
              const query = queryOf(one);
              const all = expected(rows, one, order).map(name);
              const page = await findPage(context, query, meterOf(context));
              expect(namesOf(page.items)).toEqual(all);
              expect(page.cursor).toBeNull();
              expect(namesOf(await collect(streamRows(context, query, meterOf(context))))).toEqual(
                all,
              );
              expect(namesOf(await pages(context, query, take))).toEqual(all);
              const { orderBy: _order, ...unordered } = query;
              if (unordered.index !== undefined || Object.keys(unordered.where ?? {}).length > 0) {
                expect(await countRows(context, unordered, meterOf(context))).toBe(all.length);
                expect(await rowExists(context, unordered, meterOf(context))).toBe(all.length > 0);
              }
            }
          });
        },
      ),
      { numRuns },
    );
  });

  it("a filter and a selection leave the others as they are", async () => {
    await fc.assert(
      fc.asyncProperty(
        rowsArbitrary,
        fc.array(caseArbitrary, { minLength: 6, maxLength: 6 }),
        fc.integer({ min: 1, max: 4 }),
        async (rows, cases, take) => {
          await withRows(rows, async (context) => {
            for (const one of cases) {
              const all = expected(rows, one, order);
              const filter = (row: AnyRow) => row.flag === true || row.n === 1;
              const filtered = { ...queryOf(one), filter };
              const kept = all.filter(filter).map(name);
              expect(namesOf(await pages(context, filtered, take))).toEqual(kept);
              expect(
                namesOf(await collect(streamRows(context, filtered, meterOf(context)))),
              ).toEqual(kept);
              expect(await countRows(context, filtered, meterOf(context))).toBe(kept.length);
              const first = await collect(
                streamRows(context, { ...filtered, take }, meterOf(context)),
              );
              expect(namesOf(first)).toEqual(kept.slice(0, take));
              const selected = { ...queryOf(one), select: { n: true, flag: true } };
              const some = await pages(context, selected, take);
              expect(some.map(({ row }) => [row.n, row.flag])).toEqual(
                all.map((row) => [row.n, row.flag]),
              );
              expect(some.map(({ primaryKey }) => primaryKey)).toEqual(
                all.map(({ a, id }) => [a, id]),
              );
            }
          });
        },
      ),
      { numRuns: numRuns / 2 },
    );
  });

  it("a scan has every row in the order of the primary key", async () => {
    await fc.assert(
      fc.asyncProperty(
        rowsArbitrary,
        fc.boolean(),
        fc.integer({ min: 1, max: 4 }),
        async (rows, reverse, take) => {
          await withRows(rows, async (context) => {
            const all = expected(rows, { index: "primaryKey", asked: [], reverse }, order).map(
              name,
            );
            const query: AnyQuery = { orderBy: { a: reverse ? "desc" : "asc" } };
            expect(namesOf((await scanPage(context, query, meterOf(context))).items)).toEqual(all);
            expect(
              namesOf(await collect(scanRows(context, { ...query, take }, meterOf(context)))),
            ).toEqual(all.slice(0, take));
            expect(await countRows(context, {}, meterOf(context))).toBe(all.length);
          });
        },
      ),
      { numRuns: numRuns / 4 },
    );
  });
});

it("a query that names no index has the rows that fit it, whichever index serves it", async () => {
  const fields = ["id", "a", "n", "big", "when", "bytes", "flag", "mixed"] as const;
  const asked = fc
    .uniqueArray(fc.constantFrom(...fields, "tags", "byLength"), { minLength: 1, maxLength: 3 })
    .chain((names) =>
      fc.tuple(
        ...names.map((field) => {
          const part: Part = {
            ...(field === "tags" ? each(field) : up(field)),
            ...(field === "byLength" && { of: parts.byLength![0]!.of }),
          };
          return fc.oneof(equalOf(part), rangeOf(part));
        }),
      ),
    );
  // An index that normalizes finds what differs in case alone.
  const { byLower, byFlagAndLower, byAAndLowerTag, ...indexes } = Animal.indexes;
  let served = 0;
  await fc.assert(
    fc.asyncProperty(
      rowsArbitrary,
      fc.array(asked, { minLength: 20, maxLength: 20 }),
      async (rows, queries) => {
        const kv = await openKv();
        try {
          const context = await tableOn(kv, { ...Animal, indexes });
          await put(context, ...rows);
          for (const conditions of queries) {
            const where = Object.fromEntries(
              conditions.map(({ part, condition }) => [
                part.name,
                part.each ? { has: condition } : condition,
              ]),
            );
            const fits = (row: AnyRow) =>
              conditions.every(({ part, holds }) => {
                const own = part.of(row);
                if (part.each) return (own as unknown[]).some((element) => holds(element));
                return own !== undefined && holds(own);
              });
            try {
              const { items } = await findPage(context, { where }, meterOf(context));
              expect(namesOf(items).sort()).toEqual(rows.filter(fits).map(name).sort());
              served++;
            } catch (error) {
              if ((error as { code?: string }).code !== "KW_QUERY_UNINDEXED") throw error;
            }
          }
        } finally {
          await kv.close();
        }
      },
    ),
    { numRuns: 50 },
  );
  expect(served).toBeGreaterThan(200);
});
