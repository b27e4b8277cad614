import { openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";

interface Sale {
  readonly id: number;
  readonly team: string;
  readonly month: number;
  readonly amount: number;
  readonly score?: number | undefined;
  readonly deletedAt: Date | null;
}

const aggregates = ["count", "sum", "min", "max"] as const;
type Name = (typeof aggregates)[number];
type Request = Partial<Record<Name | "avg", unknown>>;

const fields = ["amount", "score"] as const;

/** All sets of aggregates that a model or an index can declare. */
const sets = Array.from({ length: 2 ** aggregates.length }, (_, bits) =>
  aggregates.filter((_name, i) => (bits >> i) & 1),
);

function declare(names: readonly Name[]): object {
  const declared = names.map((name) => [name, name === "count" ? true : fields]);
  return Object.fromEntries(declared);
}

/** A request for everything that these aggregates give. */
function requestFor(names: readonly Name[]): Request {
  const of = { amount: true, score: true };
  return {
    ...(names.includes("count") && { count: true }),
    ...(names.includes("sum") && { sum: of, avg: of }),
    ...(names.includes("min") && { min: of }),
    ...(names.includes("max") && { max: of }),
  };
}

const byField: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((a, b) => a + b, 0),
  avg: (values) => values.reduce((a, b) => a + b, 0) / values.length,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
};

/** What the request gives for an array of rows. */
function computed(rows: readonly Sale[], request: Request): object {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(request)) {
    if (name === "count") result.count = rows.length;
    else {
      const values = fields.map((field) => {
        const present = rows.flatMap((row) => row[field] ?? []);
        return [field, present.length === 0 ? null : byField[name]!(present)] as const;
      });
      result[name] = Object.fromEntries(values);
    }
  }
  return result;
}

function grouped(rows: readonly Sale[], by: readonly ("team" | "month")[], request: Request) {
  const keyOf = (row: Sale) => JSON.stringify(by.map((field) => row[field]));
  const keys = [...new Set(rows.map(keyOf))].sort();
  return keys.map((key) => {
    const own = rows.filter((row) => keyOf(row) === key);
    const first = own[0]!;
    const values = Object.fromEntries(by.map((field) => [field, first[field]]));
    return { ...values, ...computed(own, request) };
  });
}

const sales: readonly Omit<Sale, "deletedAt">[] = [
  { id: 1, team: "a", month: 1, amount: 5, score: 2 },
  { id: 2, team: "a", month: 1, amount: -3 },
  { id: 3, team: "a", month: 2, amount: 8 },
  { id: 4, team: "b", month: 2, amount: 0, score: -7 },
  { id: 5, team: "b", month: 3, amount: 20, score: 1 },
];

const wheres = [
  {},
  { team: "a" },
  { team: "none" },
  { team: { gt: "a" } },
  { team: "b", month: 3 },
  { team: "a", month: 9 },
  { team: "a", month: { gte: 2 } },
] as const;

function has(row: Sale, where: (typeof wheres)[number]): boolean {
  return Object.entries(where).every(([field, condition]) => {
    const value = row[field as "team" | "month"];
    if (typeof condition !== "object") return value === condition;
    return "gt" in condition ? value > condition.gt : value >= condition.gte;
  });
}

/** The methods of the table that the test calls with every combination of options. */
interface Table {
  aggregate(query: object): Promise<object>;
  groupBy(query: object): Promise<object[]>;
}

/** Compares every request that the declared aggregates allow with an array of the rows. */
async function expectComputed(table: Table, rows: readonly Sale[], declared: readonly Name[]) {
  const singles = declared.length === 1 ? [] : declared.map((name) => [name]);
  const requested = [declared, ...singles];
  let served = 0;
  const attempt = async (query: object, call: () => Promise<unknown>, expected: unknown) => {
    const result = await call().catch((error: { code: string }) => error.code);
    if (result === "KW_QUERY_UNINDEXED") return;
    expect({ query, result }).toEqual({ query, result: expected });
    served++;
  };
  for (const request of requested.map(requestFor)) {
    for (const where of wheres) {
      const own = rows.filter((row) => has(row, where));
      const query = { where, ...request };
      await attempt(query, () => table.aggregate(query), computed(own, request));
      for (const by of [["team"], ["month"], ["team", "month"]] as const) {
        const groups = { by, ...query };
        await attempt(groups, () => table.groupBy(groups), grouped(own, by, request));
      }
    }
  }
  return { served, requests: requested.length };
}

describe.each(["the model", "an index", "both, with marked rows"])(
  "aggregates that %s declares",
  (place) => {
    it.each(
      sets.filter((names) => names.length > 0).map((names) => [names.join(" "), names] as const),
    )("%s", async (_, names) => {
      const declared = declare(names);
      const isMarked = place.includes("marked");
      const model = defineModel({
        name: "sales",
        schema: z.object({
          id: z.int(),
          team: z.string(),
          month: z.int(),
          amount: z.int(),
          score: z.int().optional(),
          deletedAt: z.date().nullable().default(null),
        }),
        primaryKey: "id",
        ...(place !== "an index" && declared),
        ...(isMarked && { softDelete: "deletedAt" as const }),
        indexes: { byTeam: { key: ["team", "month"], ...(place !== "the model" && declared) } },
      });
      await using kv = await openKv();
      const { sales: table, ...db } = await createDatabase({ kv, models: { sales: model } });
      const all = table as unknown as Table;
      await expectComputed(all, [], names);
      await table.createMany({ data: sales });
      const rows = sales.map((row) => ({ ...row, deletedAt: null }));
      const { served, requests } = await expectComputed(all, rows, names);
      // The model serves each request without conditions, and the index each for one of its keys.
      const least = (place === "an index" ? 0 : 1) + (place === "the model" ? 0 : 2);
      expect(served).toBeGreaterThanOrEqual(requests * least);
      await db.transaction(async (tx) => {
        await tx.sales.create({ data: { id: 6, team: "b", month: 3, amount: 99 } });
        await tx.sales.delete({ where: { id: 1 } });
        const added = { id: 6, team: "b", month: 3, amount: 99, deletedAt: null };
        const left = [...rows.filter(({ id }) => id !== 1), added];
        await expectComputed(tx.sales as unknown as Table, left, names);
      });
    });
  },
);
