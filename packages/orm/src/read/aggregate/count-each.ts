import type { KvKey } from "@keywright/core";
import { counterKey } from "../../derived/counters/counter-keys.js";
import { readCounterValues, withoutExpired } from "../../derived/counters/read-counters.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { inParallel } from "../../state/context/in-parallel.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { keyFields } from "../plan/fields/key-fields.js";
import { nameOfIndex, type QueryPlan, type Segment } from "../plan/ranges/query-plan.js";
import { countRows, findCounted, refreshCounters } from "./count-rows.js";

/** How many counts are read at a time, if each is a query of its own. */
const maxConcurrent = 50;

/** The same query for many values of some fields. */
export interface CountQueries {
  readonly fields: readonly string[];
  /** The values of the fields, one list for each query. */
  readonly values: readonly (readonly unknown[])[];
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
  const { fields, values, where } = queries;
  const queryFor = (own: readonly unknown[]) => {
    const conditions = fields.map((field, i) => [field, own[i]] as const);
    return { where: { ...Object.fromEntries(conditions), ...where } };
  };
  const [first] = values;
  if (first === undefined) return [];
  await refreshCounters(view);
  const counted = findCounted(view, queryFor(first));
  const positions = counted && positionsOf(counted.plan, counted.segments, fields);
  if (counted === undefined || positions === undefined)
    return await inParallel(values, maxConcurrent, (own) => countRows(view, queryFor(own), meter));
  const { plan, segments, counter } = counted;
  const parts = keyFields(view.model, plan.index);
  const keysFor = (own: readonly unknown[]): KvKey[] =>
    segments.map(({ equals }) => {
      const key = [...equals];
      for (const [position, i] of positions) key[position] = parts[position]!.partOf(own[i]);
      return counterKey(counter, key);
    });
  const keys = values.flatMap(keysFor);
  meter.index = nameOfIndex(plan);
  const counters = await withoutExpired(view, meter, () => readCounterValues(view, keys, meter));
  const counts = values.map(() => 0);
  for (const [i, { value }] of counters.entries())
    counts[Math.floor(i / segments.length)]! += Number(BigInt.asIntN(64, value));
  return counts;
}

/**
 * Returns the positions in the keys of a plan that have the values of fields, and the positions of
 * the fields. Undefined if the keys do not have a value for each of the fields.
 */
function positionsOf(
  { model, index }: QueryPlan,
  segments: readonly Segment[],
  fields: readonly string[],
): readonly (readonly [number, number])[] | undefined {
  // The same index may not have the rows of other values.
  if (fields.some((field) => Object.hasOwn(index?.condition ?? {}, field))) return undefined;
  const length = segments[0]?.equals.length ?? 0;
  const positions = keyFields(model, index)
    .slice(0, length)
    .flatMap(({ name }, position) => {
      const i = fields.indexOf(name);
      return i < 0 ? [] : [[position, i] as const];
    });
  const found = new Set(positions.map(([, i]) => i));
  return found.size === fields.length ? positions : undefined;
}
