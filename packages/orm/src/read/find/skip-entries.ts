import type { KvKey } from "@keywright/core";
import type { RankedReads } from "../../derived/ranks/ranked-table.js";
import { readableRanks } from "../../derived/ranks/readable-ranks.js";
import { walkEntries } from "../../derived/ranks/walk-entries.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { countOf } from "../../model/aggregates/ranked-amounts.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { ChosenPlan, choosePlan } from "../plan/choose-plan.js";
import { mayRepeat, nameOfIndex, type QueryPlan } from "../plan/ranges/query-plan.js";
import { rangeOfSegment } from "./range-of-segment.js";

/**
 * Returns a function that chooses the plan of a query, from the row on that follows the first
 * `skip` rows. It finds this row by the intervals of the index, without reading the rows before it.
 *
 * @param choose returns the plan of the whole query.
 */
export function skipping(choose: typeof choosePlan, meter: ReadMeter): typeof choosePlan {
  return (view, query) =>
    query.skip === undefined
      ? choose(view, query)
      : chooseSkipping(view, query, query.skip, meter, choose);
}

/**
 * @throws {UnindexedQueryError} if the index is not ranked.
 * @throws {InvalidArgumentError} if `skip` is not valid, or is used with `cursor` or `filter`.
 */
async function chooseSkipping(
  view: ReadView,
  query: AnyQuery,
  skip: number,
  meter: ReadMeter,
  choose: typeof choosePlan,
): Promise<ChosenPlan> {
  assertSkip(view, query);
  const { plan } = await choose(view, query);
  if (skip === 0) return { plan, after: undefined };
  if ("merged" in plan || mayRepeat(plan)) {
    const reason = "it needs a query of one index in which each row occurs once";
    throw new InvalidArgumentError(view.model.name, "skip", reason);
  }
  const ranks = await readableRanks(view, plan.index, "skip");
  meter.index = nameOfIndex(plan);
  const after = await entryBefore(ranks, plan, BigInt(skip), meter);
  return after === undefined
    ? { plan: { ...plan, segments: [] }, after: undefined }
    : { plan, after };
}

function assertSkip({ model }: ReadView, query: AnyQuery): void {
  const { skip, cursor, filter, related } = query;
  const fail = (reason: string): never => {
    throw new InvalidArgumentError(model.name, "skip", reason);
  };
  if (typeof skip !== "number" || !Number.isSafeInteger(skip) || skip < 0)
    fail("it must be an integer of at least 0");
  if (typeof cursor === "string" && cursor !== "")
    fail("a cursor already says where the page begins; leave out one of them");
  if (filter !== undefined) fail("rows are counted before filter is called; leave out one of them");
  if (related !== undefined)
    fail("rows are counted before their related rows are read; leave out one of them");
}

/** Returns the last entry that is skipped. Undefined if there are no more entries than that. */
async function entryBefore(
  ranks: RankedReads,
  plan: QueryPlan,
  skip: bigint,
  meter: ReadMeter,
): Promise<KvKey | undefined> {
  const onReads = (count: number) => meter.add(count);
  const segments = plan.reverse ? plan.segments.toReversed() : plan.segments;
  // The entry before the first one of the page.
  let left = skip - 1n;
  for (const segment of segments) {
    const range = rangeOfSegment(plan, segment);
    if (range === undefined) continue;
    let forward = left;
    if (plan.reverse) {
      const count = countOf((await walkEntries(ranks, range, { onReads })).amounts);
      forward = count - 1n - left;
      if (forward < 0n) {
        left -= count;
        continue;
      }
    }
    const { amounts, position } = await walkEntries(ranks, range, { skip: forward, onReads });
    if (position !== undefined) return [ranks.index.place, ...position];
    left = plan.reverse ? 0n : left - countOf(amounts);
  }
  return undefined;
}
