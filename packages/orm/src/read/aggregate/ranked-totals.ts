import type { RankedReads } from "../../derived/ranks/ranked-table.js";
import { walkEntries } from "../../derived/ranks/walk-entries.js";
import type { RankedAmounts } from "../../model/aggregates/ranked-amounts.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { rangeOfSegment } from "../find/range-of-segment.js";
import type { QueryPlan } from "../plan/ranges/query-plan.js";

/** Returns the amounts of the entries in each segment of a plan. */
export async function rankedTotals(
  ranks: RankedReads,
  plan: QueryPlan,
  withSums: boolean,
  meter: ReadMeter,
): Promise<RankedAmounts[]> {
  const onReads = (count: number) => meter.add(count);
  const totals: RankedAmounts[] = [];
  for (const segment of plan.segments) {
    const range = rangeOfSegment(plan, segment);
    if (range === undefined) continue;
    const { amounts } = await walkEntries(ranks, range, { withSums, onReads });
    totals.push(amounts);
  }
  return totals;
}
