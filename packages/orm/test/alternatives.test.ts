import { type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineModel, desc } from "../src/index.js";
import type { AnyRow } from "../src/model/compiled-model.js";
import type { AnyQuery } from "../src/state/context/any-query.js";
import { viewOf } from "../src/state/context/read-view.js";
import type { TableContext } from "../src/state/context/table-context.js";
import { createMatcher } from "../src/write/many/row-matcher.js";
import { meterOf, put, tableOn } from "./query-table.js";
import { countRows, explainQuery, findFirstRow, findPage, rowExists, streamRows } from "./reads.js";

const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.string(),
    group: z.string(),
    owner: z.string(),
    helper: z.string(),
    at: z.int(),
    mixed: z.union([z.string(), z.number(), z.bigint()]),
    closed: z.int().optional(),
    state: z.enum(["open", "done"]),
    tags: z.array(z.string()),
    slug: z.string(),
  }),
  primaryKey: ["group", "id"],
  indexes: {
    byOwner: { key: ["owner", "at"] },
    byHelper: { key: ["helper", "at"], include: ["owner"] },
    byOwnerDown: { key: ["owner", desc("at"), "state"] },
    byAt: { key: "at" },
    byAtAndMixed: { key: ["at", "mixed"] },
    byMixed: { key: "mixed" },
    byMixedDown: { key: [desc("mixed")] },
    byTag: { key: "tags", each: true },
    bySlug: { key: "slug", unique: true },
    byOwnerAndSlug: { key: ["owner", "slug"], unique: true },
    openByAt: { key: "at", where: { closed: null } },
    openByOwner: { key: ["owner", "at"], where: { closed: null, state: "open" } },
    byClosed: { key: "closed" },
  },
});

const names = fc.constantFrom("x", "y");
const times = fc.integer({ min: 0, max: 4 });
const mixedValues = fc.constantFrom<string | number | bigint>("", "m", 0, 5, -3n, 9n);
const tags = fc.constantFrom("r", "s", "rt");

const rowArbitrary = fc.record({
  group: names,
  owner: names,
  helper: names,
  at: times,
  mixed: mixedValues,
  closed: fc.constantFrom(undefined, 1, 2),
  state: fc.constantFrom("open", "done"),
  tags: fc.uniqueArray(tags, { maxLength: 3 }),
});

const anyTime = fc.oneof(
  times,
  fc.record({ gte: times }),
  fc.record({ lt: times }),
  fc.tuple(times, times).map(([from, to]) => ({ between: [from, to] })),
  fc.record({ in: fc.array(times, { maxLength: 3 }) }),
);
const anyMixed = fc.oneof(
  mixedValues,
  mixedValues.map((value) => ({ gte: value })),
  mixedValues.map((value) => ({ lt: value })),
  fc.record({ in: fc.array(mixedValues, { maxLength: 3 }) }),
);
const anyName = fc.oneof(names, fc.record({ in: fc.uniqueArray(names, { maxLength: 2 }) }));

/** Conditions that one index serves or, now and then, none. */
const member = fc.oneof(
  fc.record({ owner: anyName }),
  fc.record({ helper: anyName }),
  fc.record({ owner: names, at: anyTime }),
  fc.record({ helper: names, at: anyTime }),
  fc.record({ at: anyTime }),
  fc.record({ at: times, mixed: anyMixed }),
  fc.record({ mixed: anyMixed }),
  fc.record({ group: names }),
  fc.record({ group: names, id: fc.record({ gte: fc.constantFrom("2", "5") }) }),
  fc.record({ slug: fc.constantFrom("s1", "s4", "none") }),
  fc.record({ owner: names, slug: fc.record({ gte: fc.constantFrom("s1", "s4") }) }),
  fc.record({ tags: fc.record({ has: tags }) }),
  fc.record({ tags: fc.record({ has: fc.record({ startsWith: tags }) }) }),
  fc.record({ closed: fc.constant(null) }),
  fc.record({ closed: fc.constant(null), at: anyTime }),
  fc.record({ closed: fc.constant(null), state: fc.constant("open"), owner: names }),
  fc.record({ closed: fc.constantFrom(1, { gte: 1 }) }),
);

const queryArbitrary = fc.record(
  {
    where: fc.oneof(
      { weight: 6, arbitrary: fc.record({ OR: fc.array(member, { minLength: 1, maxLength: 3 }) }) },
      member,
    ),
    orderBy: fc.oneof(
      { weight: 2, arbitrary: fc.constant(undefined) },
      fc.constantFrom("asc", "desc").map((at) => ({ at })),
      fc.constantFrom("asc", "desc").map((owner) => ({ owner })),
      fc.constantFrom("asc", "desc").map((mixed) => ({ mixed })),
    ),
    take: fc.integer({ min: 1, max: 4 }),
    hasFilter: fc.boolean(),
  },
  { requiredKeys: ["where", "take", "hasFilter"] },
);

/** A query whose kind the arbitrary one seldom has. */
const pointsQuery = {
  where: { OR: [{ slug: "s1" as const }, { slug: "s4" as const }] },
  take: 1,
  hasFilter: false,
};

/** Rows of two owners whose times alternate, so that the plans of a merge take turns. */
const alternating = [0, 1, 2, 3].map((at) => ({
  group: "x" as const,
  owner: at % 2 === 0 ? ("x" as const) : ("y" as const),
  helper: "x" as const,
  at,
  mixed: "m",
  closed: undefined,
  state: "open" as const,
  tags: [],
}));
const mergeQuery = {
  where: { OR: [{ owner: "x" as const }, { owner: "y" as const }] },
  orderBy: { at: "asc" as const },
  take: 1,
  hasFilter: false,
};

type Bounds = Record<string, unknown>;

function compare(a: unknown, b: unknown): number {
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}

function meets(value: unknown, condition: unknown): boolean {
  if (condition === null) return value === undefined;
  if (value === undefined) return false;
  if (typeof condition !== "object") return value === condition;
  const { has, in: list, between, startsWith, ...bounds } = condition as Bounds;
  if (has !== undefined) return (value as unknown[]).some((element) => meets(element, has));
  if (list !== undefined) return (list as unknown[]).includes(value);
  if (between !== undefined) {
    const [from, to] = between as [unknown, unknown];
    return compare(value, from) >= 0 && compare(value, to) <= 0;
  }
  if (startsWith !== undefined) return (value as string).startsWith(startsWith as string);
  return Object.entries(bounds).every(([name, bound]) => {
    if (typeof bound !== typeof value) return false;
    const difference = compare(value, bound);
    return name === "gte" ? difference >= 0 : difference < 0;
  });
}

function matches(row: AnyRow, where: AnyRow): boolean {
  const { OR: members = [{}], ...common } = where as { OR?: AnyRow[] };
  return members.some((one) =>
    Object.entries({ ...common, ...one }).every(([field, condition]) =>
      meets(row[field], condition),
    ),
  );
}

const idOf = ({ primaryKey }: { readonly primaryKey: readonly unknown[] }) => primaryKey.join("/");

async function pagesOf(table: TableContext, query: AnyQuery): Promise<AnyRow[]> {
  const rows: AnyRow[] = [];
  let cursor: string | null = null;
  do {
    const page = await findPage(table, { ...query, cursor }, meterOf(table));
    rows.push(...page.items.map(({ row }) => row));
    if (cursor !== null && page.cursor === cursor) throw new Error("the cursor stays");
    cursor = page.cursor;
  } while (cursor !== null);
  return rows;
}

describe.each<[string, () => Promise<Kv & AsyncDisposable>]>([
  ["in the order of the specification", () => openKv() as never],
  ["in Deno's order", () => openKv(undefined, { compat: "deno" }) as never],
])("alternatives and null, %s", (_, open) => {
  it("find the rows that match one of them, once, in order, page by page, however they are called", async () => {
    let served = 0;
    const kinds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowArbitrary, { maxLength: 12 }),
        queryArbitrary,
        async (data, { hasFilter, take, ...given }) => {
          const { orderBy, ...others } = given;
          const conditions = orderBy === undefined ? others : { ...others, orderBy };
          await using kv = await open();
          const table = await tableOn(kv, Task);
          const rows = data.map((row, i) => ({ ...row, id: `${i}`, slug: `s${i}` }));
          for (const row of rows) await put(table, row);
          const filter = hasFilter ? (row: AnyRow) => row.helper === "x" : undefined;
          const query = { ...conditions, ...(filter && { filter }) } as AnyQuery;
          let all: Awaited<ReturnType<typeof findPage>>;
          try {
            all = await findPage(table, query, meterOf(table));
          } catch (error) {
            expect(error).toMatchObject({ code: "KW_QUERY_UNINDEXED" });
            for (const call of [
              async () => await countRows(table, query, meterOf(table)),
              async () => await rowExists(table, query, meterOf(table)),
              async () => explainQuery(table, query),
              async () => await createMatcher(viewOf(table), query),
            ]) {
              await expect(call()).rejects.toMatchObject({ code: "KW_QUERY_UNINDEXED" });
            }
            return;
          }
          served++;
          const explained = explainQuery(table, { ...query, take });
          kinds.add(explained.kind);
          const wanted = rows.filter(
            (row) => matches(row, conditions.where) && (filter?.(row) ?? true),
          );
          const ids = all.items.map(idOf);
          expect([...ids].sort()).toEqual(wanted.map(({ group, id }) => `${group}/${id}`).sort());
          expect(await countRows(table, query, meterOf(table))).toBe(wanted.length);
          expect(await rowExists(table, query, meterOf(table))).toBe(wanted.length > 0);
          const first = await findFirstRow(table, query, meterOf(table));
          expect(first && idOf(first)).toBe(ids[0]);
          const paged = await pagesOf(table, { ...query, take });
          expect(paged.map(({ group, id }) => `${group}/${id}`)).toEqual(ids);
          const streamed: string[] = [];
          for await (const row of streamRows(table, query, meterOf(table)))
            streamed.push(idOf(row));
          expect(streamed).toEqual(ids);
          const [[field, direction] = []] = Object.entries(orderBy ?? {});
          if (field !== undefined && field !== "mixed") {
            const inOrder = all.items.map(({ row }) => row[field]);
            const sorted = [...inOrder].sort(compare);
            expect(inOrder).toEqual(direction === "desc" ? sorted.reverse() : sorted);
          }
          const isMatch = await createMatcher(viewOf(table), query);
          for (const row of rows) {
            const found = { primaryKey: [row.group, row.id], row, versionstamp: "" };
            expect(isMatch(found, viewOf(table))).toBe(
              matches(row, conditions.where) && (filter?.(row) ?? true),
            );
          }
          const meter = meterOf(table);
          await findPage(table, { ...query, take }, meter);
          expect(meter.reads).toBeLessThanOrEqual(explained.reads ?? Number.POSITIVE_INFINITY);
          expect(meter.index).toBe(explained.index);
        },
      ),
      {
        numRuns: 100,
        examples: [
          [[], pointsQuery],
          [alternating, mergeQuery],
        ],
      },
    );
    expect(served).toBeGreaterThan(10);
    expect([...kinds]).toEqual(expect.arrayContaining(["merge", "range", "points"]));
  });
});
