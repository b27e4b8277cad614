import { type KvKey, specificationOrder } from "@keywright/core";
import type { AnyQuery } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { indexCounterKey, rowCounterKey } from "../../indexes/counter-keys.js";
import { primaryKeyOfEntry } from "../../indexes/entry-value.js";
import { type KeyId, keyIdOf } from "../../transaction/key-id.js";
import { type ChosenPlan, chooseOf, chooseScan, isReadable, plansOf } from "../plan/choose-plan.js";
import { queryFields } from "../plan/query-fields.js";
import { mayRepeat, nameOfIndex, type QueryPlan } from "../plan/query-plan.js";
import { EntryReader, maxBatch } from "./entry-reader.js";
import { readKeys } from "./read-rows.js";
import { RowReader } from "./row-reader.js";

/**
 * How many rows a query has; without conditions, how many there are. One read for each count that the model keeps, else one
 * for each index entry, and with a filter the rows too.
 *
 * Of a range of an index with several entries for a row, it holds the primary key of every row that it counts.
 *
 * An order leaves out what the index with that order does not have: the rows are those of `findMany`.
 *
 * @throws as `findPage`, but for a query that says nothing.
 */
export async function countRows(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<number> {
  const { model, catalog } = context;
  // Somebody may have dropped a counter, or be building it anew.
  if (model.counted || model.indexes.some((index) => index.counted)) await catalog.refresh();
  const plans = plansOfCount(context, query);
  if (plans === undefined && query.filter === undefined && isCounted(context, undefined)) {
    meter.index = "primaryKey";
    return await sumOfCounters(context, [rowCounterKey(context.model)], meter);
  }
  const counted = plans?.find((plan) => isCountedPlan(context, plan));
  if (counted?.index !== undefined && query.filter === undefined) {
    const { index } = counted;
    meter.index = nameOfIndex(counted);
    const keys = counted.segments.map(({ equals }) => indexCounterKey(index, equals));
    return await sumOfCounters(context, keys, meter);
  }
  const chosen = await choose(context, plans);
  return query.filter === undefined
    ? await countEntries(context, chosen.plan, meter)
    : await countFound(new RowReader(context, chosen, query, meter, false));
}

/**
 * Whether a query has a row; without conditions, whether there is one. It reads the first index entry, and with a filter
 * rows until one passes.
 *
 * @throws as {@link countRows} does.
 */
export async function rowExists(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<boolean> {
  const chosen = await choose(context, plansOfCount(context, query));
  if (query.filter !== undefined) {
    return (await new RowReader(context, chosen, query, meter, false).next(1)).length > 0;
  }
  meter.index = nameOfIndex(chosen.plan);
  const entries = new EntryReader(context, chosen.plan, meter, { cost: 1 });
  return (await entries.next(1)).length > 0;
}

/** The plans of a query; undefined where it means all rows. */
function plansOfCount(context: TableContext, query: AnyQuery): QueryPlan[] | undefined {
  const { conditions, order } = queryFields(context.model, query);
  if (query.index !== undefined || conditions.size > 0) return plansOf(context, query);
  if (order.size === 0) return undefined;
  const plans = plansOf(context, query);
  // What is computed may be absent, so that the rows with it are not all.
  return plans.some(({ index }) => hasAllRows(index)) ? undefined : plans;
}

function hasAllRows(index: QueryPlan["index"]): boolean {
  return index === undefined || index.parts.every(({ compute }) => compute === undefined);
}

async function choose(
  context: TableContext,
  plans: readonly QueryPlan[] | undefined,
): Promise<ChosenPlan> {
  return plans === undefined
    ? await chooseScan(context, {})
    : await chooseOf(context, plans, undefined);
}

/** Whether each segment of a plan is a group of rows whose number is kept. */
function isCountedPlan(context: TableContext, plan: QueryPlan): boolean {
  const { index, segments } = plan;
  if (index === undefined || !isCounted(context, index.name) || mayRepeat(plan)) return false;
  return (
    isReadable(context, index) &&
    segments.every(
      ({ equals, interval }) =>
        equals.length === index.parts.length &&
        interval.start === undefined &&
        interval.end === undefined &&
        !interval.isEmpty,
    )
  );
}

/** Whether the number of a model's rows, or of those of an index's groups, is kept and can be read. */
function isCounted({ model, catalog }: TableContext, index: string | undefined): boolean {
  const isDeclared =
    index === undefined
      ? model.counted
      : model.indexes.some(({ name, counted }) => name === index && counted);
  return isDeclared && catalog.snapshot.counterState(index ?? "") === "readable";
}

async function sumOfCounters(
  context: TableContext,
  keys: readonly KvKey[],
  meter: ReadMeter,
): Promise<number> {
  meter.add(keys.length);
  let sum = 0n;
  for (const { value } of await readKeys(context, keys)) {
    if (value !== null) sum += (value as { readonly value: bigint }).value;
  }
  return Number(sum);
}

async function countEntries(
  context: TableContext,
  plan: QueryPlan,
  meter: ReadMeter,
): Promise<number> {
  meter.index = nameOfIndex(plan);
  const reader = new EntryReader(context, plan, meter, { cost: 1 });
  const { index, model } = plan;
  const rows = index !== undefined && mayRepeat(plan) ? new Set<KeyId>() : undefined;
  let count = 0;
  for (;;) {
    const entries = await reader.next(maxBatch);
    if (entries.length === 0) return rows?.size ?? count;
    count += entries.length;
    if (rows === undefined || index === undefined) continue;
    for (const { value } of entries) {
      const primaryKey = primaryKeyOfEntry(model, index, value);
      if (primaryKey !== undefined) rows.add(keyIdOf(primaryKey, specificationOrder));
    }
  }
}

async function countFound(reader: RowReader): Promise<number> {
  let count = 0;
  for (;;) {
    const rows = await reader.next(maxBatch);
    if (rows.length === 0) return count;
    count += rows.length;
  }
}
