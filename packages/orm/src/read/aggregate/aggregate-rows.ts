import type { KvKeyPart } from "@keywright/core";
import { findRanks } from "../../derived/ranks/readable-ranks.js";
import { IndexNotReadyError } from "../../errors/schema-errors.js";
import { countOf, sumOf } from "../../model/aggregates/ranked-amounts.js";
import type { CompiledIndex, CompiledModel, CompiledPart } from "../../model/compiled-model.js";
import { valueKinds } from "../../model/fields/key-kinds.js";
import { definitionOf } from "../../model/fields/schema-definition.js";
import { ascendingPart, isSamePart } from "../../model/keys/key-parts.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { scopedQuery } from "../../state/context/scope.js";
import { takeOf } from "../find/find-rows.js";
import {
  type Aggregates,
  type AnyAggregateQuery,
  parseAggregates,
  parseBy,
} from "./aggregate-query.js";
import { parseGroupOrder, parseHaving } from "./group-order.js";
import { type AggregatePlan, planAggregate } from "./plan-aggregate.js";
import { rankedTotals } from "./ranked-totals.js";
import { readableExtreme } from "./read-extreme.js";
import { type Group, readGroups } from "./read-groups.js";
import { type Summary, Total } from "./total.js";

/**
 * Returns the aggregates of the rows of a query. Costs one read for each group of the index below
 * the conditions and for each aggregate, and no read of a row except for `min` and `max`.
 *
 * @throws {UnindexedQueryError} if the model maintains no such aggregates.
 * @throws {IndexNotReadyError} if they are not built.
 */
export async function aggregateRows(
  view: ReadView,
  query: AnyAggregateQuery,
  meter: ReadMeter,
): Promise<Record<string, unknown>> {
  const { model } = view;
  const aggregates = parseAggregates(model, query);
  const summary = await chooseSummary(view, query, aggregates, []);
  const { plan } = summary;
  meter.index = plan.index?.name ?? "primaryKey";
  const total = new Total(summary, model.keyOrder);
  const ranked = await rankedGroups(view, plan, aggregates, meter);
  const pages = ranked === undefined ? readGroups(view, plan, meter) : [ranked];
  for await (const groups of pages) {
    for (const group of groups) {
      total.add(group);
      if (summary.extremes.size > 0) await total.addExtremes(view, group, meter);
    }
  }
  return total.result(model.name);
}

/**
 * Returns the aggregates of the rows of a query for each value of some fields, in the order of
 * these fields, or sorted by an aggregate. Rows that lack one of the fields are in no group. An
 * order by an aggregate reads all groups, and holds at most twice as many as it returns in memory.
 *
 * @throws the errors of {@link aggregateRows}.
 */
export async function groupRows(
  view: ReadView,
  query: AnyAggregateQuery,
  meter: ReadMeter,
): Promise<Record<string, unknown>[]> {
  const { model } = view;
  const aggregates = parseAggregates(model, query);
  const by = parseBy(model, query.by);
  const take = takeOf(model, query) ?? Number.POSITIVE_INFINITY;
  const { direction, sort } = parseGroupOrder(model, query.orderBy, by, aggregates);
  const passes = parseHaving(model, query.having, aggregates);
  const summary = await chooseSummary(view, query, aggregates, by);
  const { parts, name } = summary.plan.index!;
  meter.index = name;
  const columns = by.map((field) => {
    const position = parts.findIndex((part) => part.field === field);
    return { field, position, valueFor: groupValue(model, parts[position]!) };
  });
  const reverse = (direction === "desc") !== parts[columns[0]!.position]!.descending;
  let results: Record<string, unknown>[] = [];
  const sorted = () => results.sort(sort).slice(0, take);
  let current: { parts: readonly KvKeyPart[]; total: Total } | undefined;
  const finish = () => {
    if (current === undefined) return;
    const result: Record<string, unknown> = {};
    for (const { field, position, valueFor } of columns) {
      result[field] = valueFor(current.parts[position]!);
    }
    Object.assign(result, current.total.result(model.name));
    if (!passes(result)) return;
    results.push(result);
    // The order of equal groups stays, because the ones that were read first come first.
    if (sort !== undefined && results.length >= 2 * take) results = sorted();
  };
  const isCurrent = (group: Group) =>
    current !== undefined &&
    columns.every(({ position }) => isSamePart(current!.parts[position], group.parts[position]));
  const isWhole = columns.at(-1)!.position === parts.length - 1;
  const stopsEarly = isWhole && sort === undefined && query.having === undefined;
  // A result is complete when the next group begins.
  const pageSize = stopsEarly ? take + 1 : Number.POSITIVE_INFINITY;
  for await (const groups of readGroups(view, summary.plan, meter, { reverse, pageSize })) {
    for (const group of groups) {
      if (!isCurrent(group)) {
        finish();
        if (results.length === take && sort === undefined) return results;
        current = { parts: group.parts, total: new Total(summary, model.keyOrder) };
      }
      current!.total.add(group);
      if (summary.extremes.size > 0) await current!.total.addExtremes(view, group, meter);
    }
  }
  finish();
  return sort === undefined ? results : sorted();
}

/**
 * Returns the rows of each segment of a plan as one group, if the index is ranked and would have to
 * read several groups. Ranks have no minima and maxima.
 */
async function rankedGroups(
  view: ReadView,
  { index, segments, sums }: AggregatePlan,
  { min, max }: Aggregates,
  meter: ReadMeter,
): Promise<Group[] | undefined> {
  if (index === undefined || min.length + max.length > 0) return undefined;
  if (segments.every(({ equals }) => equals.length === index.parts.length)) return undefined;
  const fields = [...sums.keys()];
  const ranks = findRanks(view, index, fields);
  if (ranks === undefined) return undefined;
  const plan = { model: view.model, index, segments, reverse: false };
  const totals = await rankedTotals(ranks, plan, fields.length > 0, meter);
  return totals.map((amounts) => ({
    parts: [],
    count: countOf(amounts),
    sums: fields.map((field) => {
      const position = ranks.sums.findIndex((sum) => sum.field === field);
      return sumOf(amounts, ranks.sums, position);
    }),
  }));
}

/** Returns the first plan whose aggregates are built. Reads the catalog again if there is none. */
async function chooseSummary(
  view: ReadView,
  unscoped: AnyAggregateQuery,
  aggregates: Aggregates,
  by: readonly string[],
): Promise<Summary> {
  const { model } = view;
  if (!view.isChecked) await view.refresh();
  const scoped = view.scope === undefined ? model : view.queriedModel;
  const query = scopedQuery(view, unscoped);
  const plans = planAggregate(scoped, query, aggregates, by);
  const findReady = () => plans.find((plan) => missingCounter(view, plan) === undefined);
  let plan = findReady();
  if (plan === undefined) {
    await view.reload();
    plan = findReady();
  }
  if (plan === undefined) {
    const missing = missingCounter(view, plans[0]!)!;
    const state = view.snapshot.counterState(missing);
    const unready = state === "readable" ? "outdated" : state;
    const subject = missing === "" ? "the count of all rows" : `the aggregate ${missing}`;
    throw new IndexNotReadyError(model.name, missing, unready, undefined, subject);
  }
  const extremes = new Map<string, CompiledIndex>();
  for (const field of [...aggregates.min, ...aggregates.max]) {
    extremes.set(field, await readableExtreme(view, plan.extremes.get(field)!));
  }
  return { plan, aggregates, extremes };
}

/** Returns the name of a counter of a plan that cannot be read. */
function missingCounter(
  { snapshot }: ReadView,
  { index, count, sums }: AggregatePlan,
): string | undefined {
  const counters = [...(count === undefined ? [] : [count]), ...sums.values()];
  if (index !== undefined && counters.length > 0 && !snapshot.canRead(index)) return index.name;
  const isReadable = ({ name, sum }: (typeof counters)[number]) =>
    snapshot.counterState(name) === "readable" &&
    (sum === undefined || !snapshot.mayDiffer(sum.field));
  return counters.find((counter) => !isReadable(counter))?.name;
}

/**
 * Returns a function from the part of a key to the value of a field. A normalized or computed part
 * is returned as it is in the key.
 */
function groupValue(
  { schema }: CompiledModel,
  { field, descending, descendingOrder, compute, normalize }: CompiledPart,
): (part: KvKeyPart) => unknown {
  const type = compute === undefined && normalize === undefined ? schema.shape[field] : undefined;
  const isDate = type !== undefined && valueKinds(type).every(isDateKind);
  return (part) => {
    const value = descending ? (ascendingPart(part, descendingOrder) ?? part) : part;
    return isDate && typeof value === "number" ? new Date(value) : value;
  };
}

function isDateKind(kind: Parameters<typeof definitionOf>[0]): boolean {
  return definitionOf(kind).type === "date";
}
