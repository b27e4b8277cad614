import type { KvKeyPart } from "@keywright/core";
import type { ReadMeter } from "../../context/read-meter.js";
import { scopedQuery } from "../../context/scope.js";
import type { TableContext } from "../../context/table-context.js";
import { IndexNotReadyError } from "../../errors/schema-errors.js";
import { keyText } from "../../indexes/key-text.js";
import { countOf, sumOf } from "../../model/aggregates/ranked-amounts.js";
import { rankedTotals } from "../../ranks/ranked-totals.js";
import { findRanks } from "../../ranks/readable-ranks.js";
import { keyOrderOf } from "../../transaction/key-order-of.js";
import { queriedModel } from "../plan/queried-model.js";
import { readAgain } from "../read/read-again.js";
import { takeOf } from "../read/read-page.js";
import {
  type Aggregates,
  type AnyAggregateQuery,
  parseAggregates,
  parseBy,
  parseGroupOrder,
} from "./aggregate-query.js";
import { groupValue } from "./group-value.js";
import { type AggregatePlan, planAggregate } from "./plan-aggregate.js";
import { readableExtreme } from "./read-extreme.js";
import { type Group, readGroups } from "./read-groups.js";
import { type ExtremeIndexes, Total } from "./total.js";

/**
 * Returns the aggregates of the rows of a query. Costs one read for each group of the index below
 * the conditions and for each aggregate, and no read of a row except for `min` and `max`.
 *
 * @throws {UnindexedQueryError} if the model maintains no such aggregates.
 * @throws {IndexNotReadyError} if they are not built.
 */
export async function aggregateRows(
  context: TableContext,
  query: AnyAggregateQuery,
  meter: ReadMeter,
): Promise<Record<string, unknown>> {
  const { model, kv } = context;
  const aggregates = parseAggregates(model, query);
  return await readAgain(context, async () => {
    const { plan, extremes } = await choosePlan(context, query, aggregates, []);
    meter.index = plan.index?.name ?? "primaryKey";
    const total = new Total(keyOrderOf(kv));
    const groups =
      (await rankedGroups(context, plan, aggregates, meter)) ??
      readGroups(context, plan, false, meter);
    for await (const group of groups) {
      await total.add(context, group, aggregates, extremes, meter);
    }
    return total.result(model.name, plan, aggregates);
  });
}

/**
 * Returns the aggregates of the rows of a query for each value of some fields, in the order of
 * these fields. Rows that lack one of the fields are in no group.
 *
 * @throws the errors of {@link aggregateRows}.
 */
export async function groupRows(
  context: TableContext,
  query: AnyAggregateQuery,
  meter: ReadMeter,
): Promise<Record<string, unknown>[]> {
  const { model, kv } = context;
  const aggregates = parseAggregates(model, query);
  const by = parseBy(model, query.by);
  const take = takeOf(model, query) ?? Number.POSITIVE_INFINITY;
  const direction = parseGroupOrder(model, query.orderBy, by);
  return await readAgain(context, async () => {
    const { plan, extremes } = await choosePlan(context, query, aggregates, by);
    const { parts } = plan.index!;
    meter.index = plan.index!.name;
    const positions = by.map((field) => parts.findIndex((part) => part.field === field));
    const reverse = (direction === "desc") !== parts[positions[0]!]!.descending;
    const results: Record<string, unknown>[] = [];
    let current: { id: string; parts: readonly KvKeyPart[]; total: Total } | undefined;
    const finish = () => {
      if (current === undefined) return;
      const { parts: groupParts, total } = current;
      const values = positions.map((position, i) => {
        return [by[i]!, groupValue(model, parts[position]!, groupParts[position]!)] as const;
      });
      const result = total.result(model.name, plan, aggregates);
      results.push({ ...Object.fromEntries(values), ...result });
    };
    for await (const group of readGroups(context, plan, reverse, meter)) {
      const id = keyText(positions.map((position) => group.parts[position]!));
      if (current?.id !== id) {
        finish();
        current = undefined;
        if (results.length === take) return results;
        current = { id, parts: group.parts, total: new Total(keyOrderOf(kv)) };
      }
      await current.total.add(context, group, aggregates, extremes, meter);
    }
    finish();
    return results;
  });
}

/**
 * Returns the rows of each segment of a plan as one group, if the index is ranked and would have to
 * read several groups. Ranks have no minima and maxima.
 */
async function rankedGroups(
  context: TableContext,
  { index, segments, sums }: AggregatePlan,
  { min, max }: Aggregates,
  meter: ReadMeter,
): Promise<Group[] | undefined> {
  if (index === undefined || min.length + max.length > 0) return undefined;
  if (segments.every(({ equals }) => equals.length === index.parts.length)) return undefined;
  const fields = [...sums.keys()];
  const ranks = findRanks(context, index, fields);
  if (ranks === undefined) return undefined;
  const plan = { model: context.model, index, segments, reverse: false };
  const totals = await rankedTotals(ranks, plan, fields.length > 0, meter);
  return totals.map((amounts) => ({
    parts: [],
    count: countOf(amounts),
    sums: new Map(
      fields.map((field) => {
        const position = ranks.sums.findIndex((sum) => sum.field === field);
        return [field, sumOf(amounts, ranks.sums, position)];
      }),
    ),
  }));
}

/** Returns the first plan whose aggregates are built. Reads the catalog again if there is none. */
async function choosePlan(
  context: TableContext,
  unscoped: AnyAggregateQuery,
  aggregates: Aggregates,
  by: readonly string[],
): Promise<{ plan: AggregatePlan; extremes: ExtremeIndexes }> {
  const { model, kv, catalog } = context;
  await catalog.refresh();
  const scoped = context.scope === undefined ? model : queriedModel(context);
  const query = scopedQuery(context, unscoped);
  const plans = planAggregate(scoped, query, aggregates, by, () => keyOrderOf(kv));
  const findReady = () => plans.find((plan) => missingCounter(context, plan) === undefined);
  let plan = findReady();
  if (plan === undefined) {
    await catalog.reload();
    plan = findReady();
  }
  if (plan === undefined) {
    const missing = missingCounter(context, plans[0]!)!;
    const state = catalog.snapshot.counterState(missing);
    const unready = state === "readable" ? "outdated" : state;
    const subject = missing === "" ? "the count of all rows" : `the aggregate ${missing}`;
    throw new IndexNotReadyError(model.name, missing, unready, undefined, subject);
  }
  const extremes = new Map();
  for (const field of [...aggregates.min, ...aggregates.max]) {
    extremes.set(field, await readableExtreme(context, plan.extremes.get(field)!));
  }
  return { plan, extremes };
}

/** Returns the name of a counter of a plan that cannot be read. */
function missingCounter(
  { catalog }: TableContext,
  { index, count, sums }: AggregatePlan,
): string | undefined {
  const { snapshot } = catalog;
  const counters = [...(count === undefined ? [] : [count]), ...sums.values()];
  if (index !== undefined && counters.length > 0 && !snapshot.canRead(index)) return index.name;
  const isReadable = ({ name, sum }: (typeof counters)[number]) =>
    snapshot.counterState(name) === "readable" &&
    (sum === undefined || !snapshot.mayDiffer(sum.field));
  return counters.find((counter) => !isReadable(counter))?.name;
}
