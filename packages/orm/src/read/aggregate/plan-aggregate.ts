import { UnindexedQueryError } from "../../errors/query-errors.js";
import type { Counter } from "../../model/aggregates/counter.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { namedIndexes } from "../../state/schema/named-index.js";
import { keyFields } from "../plan/fields/key-fields.js";
import { parseQuery, type QueryFields } from "../plan/fields/query-fields.js";
import { isComplete, planOf } from "../plan/plan-query.js";
import type { Segment } from "../plan/ranges/query-plan.js";
import type { Aggregates, AnyAggregateQuery } from "./aggregate-query.js";

/**
 * The way to compute aggregates: ranges of the groups of one index, or the one group of all rows.
 */
export interface AggregatePlan {
  /** Undefined for the group of all rows. */
  readonly index: CompiledIndex | undefined;
  /** Segments without common keys, in key order. */
  readonly segments: readonly Segment[];
  readonly count: Counter | undefined;
  readonly sums: ReadonlyMap<string, Counter>;
  /** The names of the indexes for `min` and `max`, by their fields. */
  readonly extremes: ReadonlyMap<string, string>;
}

const wholeRange: Segment = { equals: [], interval: {} };

/**
 * Returns the ways to compute aggregates, the one with the fewest groups first.
 *
 * @param by the fields of `groupBy`. None for `aggregate`.
 * @throws {UnindexedQueryError} if the model maintains no such aggregates.
 * @throws {InvalidQueryError} if a condition is not valid.
 * @throws {UnknownIndexError} if the model has no index with the name in `index`.
 */
export function planAggregate(
  model: CompiledModel,
  query: AnyAggregateQuery,
  aggregates: Aggregates,
  by: readonly string[],
): AggregatePlan[] {
  const { where = {}, index: name } = query;
  const alternatives = parseQuery(model, { where });
  const plans: AggregatePlan[] = [];
  if (name === undefined && by.length === 0 && Object.keys(where).length === 0) {
    const plan = withAggregates(model, undefined, aggregates, [wholeRange]);
    if (plan !== undefined) plans.push(plan);
  }
  const candidates = name === undefined ? model.indexes : namedIndexes(model, name);
  const ordered = new Map(by.map((field) => [field, "asc" as const]));
  for (const index of candidates) {
    if (index.isHidden || !by.every((field) => index.fields.includes(field))) continue;
    const segments = groupSegments(model, index, alternatives);
    if (segments === undefined || !countsOnce(index, segments, alternatives, by)) continue;
    const isWhole = (fields: QueryFields) =>
      isComplete(model, index, { ...fields, order: ordered });
    if (name === undefined && !alternatives.every(isWhole)) continue;
    const plan = withAggregates(model, index, aggregates, segments);
    if (plan !== undefined) plans.push(plan);
  }
  if (plans.length === 0) throw unserved(model, aggregates, by, Object.keys(where));
  return plans.sort((a, b) => freeParts(a) - freeParts(b));
}

/** Returns the number of key parts by which the groups of a plan differ. */
function freeParts({ index, segments }: AggregatePlan): number {
  return (index?.parts.length ?? 0) - (segments[0]?.equals.length ?? 0);
}

/** Returns the ranges of groups with the conditions. Undefined if the index does not serve them. */
function groupSegments(
  model: CompiledModel,
  index: CompiledIndex,
  alternatives: readonly [QueryFields, ...QueryFields[]],
): readonly Segment[] | undefined {
  if (alternatives.every(({ conditions }) => conditions.size === 0)) return [wholeRange];
  const segments = planOf(model, index, alternatives)?.segments;
  return segments && segmentsOfGroups(model, index, segments);
}

/**
 * Returns the segments of an index's entries as segments of its groups. Undefined if they do not
 * select groups as a whole. The primary key is in the keys of the entries, but not in those of the
 * groups. A field of the primary key that is also in the index selects nothing more.
 */
export function segmentsOfGroups(
  model: CompiledModel,
  index: CompiledIndex,
  segments: readonly Segment[],
): readonly Segment[] | undefined {
  const { length } = index.parts;
  const fields = keyFields(model, index);
  const trimmed = segments.map(({ equals, interval }) => {
    const isFollowing = equals.every((_, i) => i < length || fields[i]?.sameAs !== undefined);
    return { equals: isFollowing ? equals.slice(0, length) : equals, interval };
  });
  return trimmed.every((segment) => isOfGroups(length, segment)) ? trimmed : undefined;
}

function isOfGroups(length: number, { equals, interval }: Segment): boolean {
  const { start, end, isEmpty = false } = interval;
  const isBounded = start !== undefined || end !== undefined || isEmpty;
  return equals.length + (isBounded ? 1 : 0) <= length;
}

/**
 * True if the groups of the ranges that belong to one result follow each other, and if no row is in
 * two of them.
 */
function countsOnce(
  { parts, each }: CompiledIndex,
  segments: readonly Segment[],
  alternatives: readonly QueryFields[],
  by: readonly string[],
): boolean {
  const pinned = segments[0]?.equals.length ?? 0;
  const last = parts.findLastIndex(({ field }) => by.includes(field));
  const isFixed = (position: number) => position < pinned || by.includes(parts[position]!.field);
  const isInOrder = parts.slice(0, last + 1).every((_, position) => isFixed(position));
  if (!isInOrder || each === undefined || by.includes(parts[each]!.field)) return isInOrder;
  const { field } = parts[each]!;
  return alternatives.length === 1 && alternatives[0]!.conditions.get(field)?.isEqual === true;
}

function withAggregates(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  { sum, avg, min, max }: Aggregates,
  segments: readonly Segment[],
): AggregatePlan | undefined {
  const { extremes } = index ?? model;
  if (![...min, ...max].every((field) => extremes.has(field))) return undefined;
  const counters = model.counters.filter((counter) => counter.index === index?.name);
  const count = counters.find(
    (counter) => counter.sum === undefined && counter.ranked === undefined,
  );
  const sums = new Map<string, Counter>();
  for (const field of [...sum, ...avg]) {
    const counter = counters.find((one) => one.sum?.field === field);
    if (counter === undefined) return undefined;
    sums.set(field, counter);
  }
  // Without counters, only the smallest and largest values of one group can be found.
  const isOneGroup =
    index === undefined || segments.every(({ equals }) => equals.length === index.parts.length);
  const needsCount = sum.length + avg.length + min.length + max.length === 0 || !isOneGroup;
  if (needsCount && count === undefined) return undefined;
  return { index, segments, count, sums, extremes };
}

function unserved(
  model: CompiledModel,
  { count, sum, avg, min, max }: Aggregates,
  by: readonly string[],
  conditions: readonly string[],
): UnindexedQueryError {
  const fields = [...new Set([...conditions, ...by])];
  const list = (names: readonly string[]) =>
    `[${names.map((name) => JSON.stringify(name)).join(", ")}]`;
  const summed = [...new Set([...sum, ...avg])];
  const options = [
    ...(summed.length > 0 ? [`sum: ${list(summed)}`] : count ? ["count: true"] : []),
    ...(min.length > 0 ? [`min: ${list(min)}`] : []),
    ...(max.length > 0 ? [`max: ${list(max)}`] : []),
  ].join(", ");
  const suggestion = fields.length === 0 ? options : `{ key: ${list(fields)}, ${options} }`;
  const text =
    fields.length === 0
      ? `the model maintains no such aggregate of all rows; declare it: ${options}`
      : `no index maintains these aggregates of ${fields.join(", ")}; declare one: ${suggestion}`;
  return new UnindexedQueryError(model.name, fields, suggestion, text);
}
