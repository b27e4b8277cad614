import type { ReadMeter } from "../../context/read-meter.js";
import type { RankedAmounts } from "../../model/aggregates/ranked-amounts.js";
import type { QueryPlan } from "../../query/plan/ranges/query-plan.js";
import { rangeOfSegment } from "./range-of-segment.js";
import type { RankedTable } from "./ranked-table.js";
import { walkEntries } from "./walk-entries.js";

/** Returns the amounts of the entries in each segment of a plan. */
export async function rankedTotals(
  ranks: RankedTable,
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
