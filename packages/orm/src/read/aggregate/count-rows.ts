import { specificationOrder } from "@keywright/core";
import { counterKey } from "../../derived/counters/counter-keys.js";
import { readCounters } from "../../derived/counters/read-counters.js";
import { findRanks } from "../../derived/ranks/readable-ranks.js";
import type { Counter } from "../../model/aggregates/counter.js";
import { countOf } from "../../model/aggregates/ranked-amounts.js";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { scopedQuery } from "../../state/context/scope.js";
import { type KeyId, keyIdOf } from "../../state/transaction/buffer/key-id.js";
import { EntryReader, maxBatch } from "../find/entries/entry-reader.js";
import { rowSourceOf } from "../find/find-rows.js";
import type { RowSource } from "../find/rows/row-reader.js";
import { type ChosenPlan, chooseAmong, chooseScan, plansOf } from "../plan/choose-plan.js";
import { parseQuery } from "../plan/fields/query-fields.js";
import {
  mayRepeat,
  nameOfIndex,
  type Plan,
  plansIn,
  type QueryPlan,
  readsMarkedRows,
  type Segment,
} from "../plan/ranges/query-plan.js";
import { segmentsOfGroups } from "./plan-aggregate.js";
import { rankedTotals } from "./ranked-totals.js";
import { readGroups } from "./read-groups.js";

/**
 * Returns the number of rows that a query has, or of all rows if it has no conditions. If the model
 * keeps counters for these rows, it reads one entry per counter: one for each key of the index that
 * the conditions select. Otherwise it reads each index entry, and with a filter each row too.
 *
 * For a range of an index with several entries per row, and if it reads several indexes, it holds
 * in memory the primary keys of all rows that it counts.
 *
 * With an `orderBy`, it counts only the rows in the index with that order: those that `findMany`
 * returns.
 */
export async function countRows(
  view: ReadView,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<number> {
  const { model } = view;
  await refreshCounters(view);
  const plans = plansOfCount(view, query);
  const ofRows = model.counters.find(
    ({ index, sum, ranked }) => index === undefined && sum === undefined && ranked === undefined,
  );
  if (plans === undefined && query.filter === undefined && isReadableCounter(view, ofRows)) {
    meter.index = "primaryKey";
    return await readCounters(view, [counterKey(ofRows, [])], meter);
  }
  const isTested = query.filter !== undefined || query.related !== undefined;
  const counted = isTested
    ? undefined
    : plans?.find((plan): plan is QueryPlan => hasCounters(view, plan));
  // With free parts there are as many counters as keys. The ranks of the index take fewer reads.
  const isRanked = counted?.index?.ranked === true && !isOneEach(counted);
  if (counted !== undefined && !isRanked) {
    meter.index = nameOfIndex(counted);
    return await countGroups(view, counted, meter);
  }
  if (!isTested) {
    const ranked = await countByRanks(view, plans ?? [], meter);
    if (ranked !== undefined) return ranked;
    if (counted !== undefined) return await countGroups(view, counted, meter);
  }
  const chosen = await choosePlanOrScan(view, plansOfCount(view, query));
  return isTested || mayReadMarkedRows(view, chosen.plan)
    ? await countFound(rowSourceOf(view, chosen, query, meter, false))
    : await countEntries(view, chosen.plan, meter);
}

/** Another process may have dropped a counter, or may be rebuilding it. */
export async function refreshCounters(view: ReadView): Promise<void> {
  const { model, isChecked } = view;
  if (isChecked) return;
  if (model.counted || model.indexes.some((index) => index.counted)) await view.refresh();
}

/** A plan whose rows are counted by one counter for each of its segments. */
export interface CountedPlan {
  readonly plan: QueryPlan;
  readonly segments: readonly Segment[];
  readonly counter: Counter;
}

/** Returns the plan of a query whose rows are counted by one counter for each segment, if any. */
export function findCounted(view: ReadView, query: AnyQuery): CountedPlan | undefined {
  const plans = plansOfCount(view, query) ?? [];
  const plan = plans.find((one): one is QueryPlan => hasCounters(view, one));
  const counter = plan && countOfKeys(plan);
  if (counter === undefined || !isOneEach(plan!)) return undefined;
  return { plan: plan!, segments: groupsOf(plan!) ?? [], counter };
}

/** True if the rows of a query are counted by the entries of one index, one for each row. */
export function countsEntries(view: ReadView, query: AnyQuery): boolean {
  return (plansOfCount(view, query) ?? []).every((plan) => {
    if ("merged" in plan || mayRepeat(plan) || readsMarkedRows(view, plan.index)) return false;
    return !hasCounters(view, plan) && findRanks(view, plan.index) === undefined;
  });
}

/**
 * True if a query has a row. Reads the first index entry, or with a filter, rows until one passes.
 */
export async function rowExists(
  view: ReadView,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<boolean> {
  const chosen = await choosePlanOrScan(view, plansOfCount(view, query));
  const isTested = query.filter !== undefined || query.related !== undefined;
  if (isTested || mayReadMarkedRows(view, chosen.plan)) {
    return (await rowSourceOf(view, chosen, query, meter, false).next(1)).length > 0;
  }
  meter.index = nameOfIndex(chosen.plan);
  for (const plan of plansIn(chosen.plan)) {
    const entries = new EntryReader(view, plan, meter, { cost: 1, withValues: false });
    if ((await entries.next(1)).length > 0) return true;
  }
  return false;
}

function mayReadMarkedRows(view: ReadView, plan: Plan): boolean {
  return plansIn(plan).some(({ index }) => readsMarkedRows(view, index));
}

function plansOfCount(view: ReadView, query: AnyQuery): readonly Plan[] | undefined {
  const [{ conditions, order }] = parseQuery(view.model, scopedQuery(view, query));
  const isSelective = query.index !== undefined || conditions.size > 0;
  if (isSelective || query.related !== undefined) return plansOf(view, query);
  if (order.size === 0) return undefined;
  const plans = plansOf(view, query);
  // A row may lack a computed part, so an index with one may not have all rows.
  return plans.some((plan) => !("merged" in plan) && hasAllRows(plan.index)) ? undefined : plans;
}

function hasAllRows(index: QueryPlan["index"]): boolean {
  return index === undefined || index.parts.every(({ compute }) => compute === undefined);
}

async function choosePlanOrScan(
  view: ReadView,
  plans: readonly Plan[] | undefined,
): Promise<ChosenPlan> {
  return plans === undefined
    ? await chooseScan(view, {})
    : await chooseAmong(view, plans, undefined);
}

function hasCounters(view: ReadView, plan: Plan): boolean {
  if ("merged" in plan) return false;
  const { index } = plan;
  if (index === undefined || mayRepeat(plan)) return false;
  if (!isReadableCounter(view, countOfKeys(plan))) return false;
  return view.canRead(index) && groupsOf(plan) !== undefined;
}

/** Returns the counter of the rows that each key of a plan's index has. */
function countOfKeys({ model, index }: QueryPlan): Counter | undefined {
  return model.counters.find(
    (one) => one.index === index?.name && one.sum === undefined && one.ranked === undefined,
  );
}

function groupsOf({ model, index, segments }: QueryPlan): readonly Segment[] | undefined {
  return index && segmentsOfGroups(model, index, segments);
}

/** True if each segment has the values of all parts, and so one counter. */
function isOneEach({ index, segments }: QueryPlan): boolean {
  return segments.every(({ equals }) => equals.length >= (index?.parts.length ?? 0));
}

/** Counts by the intervals of a ranked index, if one of the plans has one. */
async function countByRanks(
  view: ReadView,
  plans: readonly Plan[],
  meter: ReadMeter,
): Promise<number | undefined> {
  for (const plan of plans) {
    if ("merged" in plan || mayRepeat(plan)) continue;
    const ranks = findRanks(view, plan.index);
    if (ranks === undefined) continue;
    meter.index = nameOfIndex(plan);
    let total = 0n;
    for (const amounts of await rankedTotals(ranks, plan, false, meter)) total += countOf(amounts);
    return Number(total);
  }
  return undefined;
}

/** Adds up the counters of the keys that a plan has. */
async function countGroups(
  view: ReadView,
  queryPlan: QueryPlan,
  meter: ReadMeter,
): Promise<number> {
  const { index } = queryPlan;
  const segments = groupsOf(queryPlan) ?? [];
  const count = countOfKeys(queryPlan);
  const plan = { index, segments, count, sums: new Map(), extremes: new Map() };
  let total = 0;
  for await (const groups of readGroups(view, plan, meter)) {
    for (const { count: rows } of groups) total += Number(rows);
  }
  return total;
}

function isReadableCounter(
  { snapshot }: ReadView,
  counter: Counter | undefined,
): counter is Counter {
  return counter !== undefined && snapshot.counterState(counter.name) === "readable";
}

async function countEntries(view: ReadView, plan: Plan, meter: ReadMeter): Promise<number> {
  meter.index = nameOfIndex(plan);
  const { model } = plan;
  const rows = "merged" in plan || mayRepeat(plan) ? new Set<KeyId>() : undefined;
  let count = 0;
  for (const each of plansIn(plan)) {
    const reader = new EntryReader(view, each, meter, { cost: 1, withValues: rows !== undefined });
    for (;;) {
      const entries = await reader.next(maxBatch);
      if (entries.length === 0) break;
      count += entries.length;
      if (rows === undefined) continue;
      for (const { key, value } of entries) {
        const { index } = each;
        const primaryKey =
          index === undefined ? key.slice(1) : primaryKeyOfEntry(model, index, value);
        if (primaryKey !== undefined) rows.add(keyIdOf(primaryKey, specificationOrder));
      }
    }
  }
  return rows?.size ?? count;
}

async function countFound(reader: RowSource): Promise<number> {
  let count = 0;
  for (;;) {
    const rows = await reader.next(maxBatch);
    if (rows.length === 0) return count;
    count += rows.length;
  }
}
