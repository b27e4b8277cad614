import type { KvKey } from "@keywright/core";
import { counterKey } from "../../derived/counters/counter-keys.js";
import { readCounterValues } from "../../derived/counters/read-counters.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { inParallel } from "../../promises/in-parallel.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { countRanges, maySkipEntries, rangesOf } from "../find/entries/walk-ranges.js";
import { keyFields } from "../plan/fields/key-fields.js";
import { type EachQuery, planEach, positionsOf } from "../plan/plan-each.js";
import { nameOfIndex } from "../plan/ranges/query-plan.js";
import { countRows, countsEntries, findCounted, refreshCounters } from "./count-rows.js";

/** How many counts are read at a time, if each is a query of its own. */
const maxConcurrent = 50;

/** The same conditions for many values of some fields. */
export interface CountQueries extends Omit<EachQuery, "query"> {
  readonly where: AnyRow;
}

/**
 * Returns the number of rows that each of the queries has. If one counter has each number, the
 * query is planned once and all counters are read together.
 */
export async function countEach(
  view: ReadView,
  queries: CountQueries,
  meter: ReadMeter,
): Promise<number[]> {
  const { values } = queries;
  const [first] = values;
  if (first === undefined) return [];
  const counts = await readCountOfEach(view, queries, meter);
  if (counts !== undefined) return counts;
  const isWalked = maySkipEntries(view, meter) && countsEntries(view, queryOf(queries, first));
  const walked = isWalked ? await countWalked(view, queries, meter) : undefined;
  if (walked !== undefined) return walked;
  return await inParallel(values, maxConcurrent, (own) =>
    countRows(view, queryOf(queries, own), meter),
  );
}

/** Returns the query with some values. */
export function queryOf({ fields, where }: CountQueries, own: readonly unknown[]): AnyQuery {
  const conditions = fields.map((field, i) => [field, own[i]] as const);
  return { where: { ...Object.fromEntries(conditions), ...where } };
}

/** Returns the numbers of {@link countEach} if counters have all of them. */
export async function readCountOfEach(
  view: ReadView,
  queries: CountQueries,
  meter: ReadMeter,
): Promise<number[] | undefined> {
  const { values } = queries;
  const [first] = values;
  if (first === undefined) return [];
  await refreshCounters(view);
  const counted = findCounted(view, queryOf(queries, first));
  const positions = counted && positionsOf(view, counted.plan, counted.segments, queries);
  if (counted === undefined || positions === undefined) return undefined;
  const { plan, segments, counter } = counted;
  const parts = keyFields(view.model, plan.index);
  const keysFor = (own: readonly unknown[]): KvKey[] =>
    segments.map(({ equals }) => {
      const key = [...equals];
      for (const [position, i] of positions) key[position] = parts[position]!.partOf(own[i]);
      return counterKey(counter, key);
    });
  const keys = values.flatMap(keysFor);
  const counters = await readCounterValues(view, keys, meter);
  const counts = values.map(() => 0);
  for (const [i, { value }] of counters.entries())
    counts[Math.floor(i / segments.length)]! += Number(BigInt.asIntN(64, value));
  return counts;
}

/** Counts the entries of all ranges together. Returns undefined if this is not possible. */
async function countWalked(
  view: ReadView,
  { fields, values, where }: CountQueries,
  meter: ReadMeter,
): Promise<number[] | undefined> {
  const plans = planEach(view, { query: { where }, fields, values });
  const [plan] = plans;
  const ranges = rangesOf(plans);
  if (plan === undefined || ranges === undefined || !view.canRead(plan.index)) return undefined;
  meter.index = nameOfIndex(plan);
  await view.beginPage(plan.index);
  return await countRanges(view, ranges, meter);
}
