import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { type CountQueries, queryOf } from "../aggregate/count-each.js";
import { countsEntries } from "../aggregate/count-rows.js";
import { RangeWalk, rangesOf } from "../find/entries/walk-ranges.js";
import { planEach } from "../plan/plan-each.js";
import { nameOfIndex } from "../plan/ranges/query-plan.js";

/**
 * Returns for each of the queries whether it has a row. Reads the first entry of each, all in one
 * pass, and no rows. Undefined if this is not possible, or if entries are not enough to tell.
 *
 * @param view sees one state, in which entries and rows match.
 */
export async function haveEntries(
  view: ReadView,
  queries: CountQueries,
  meter: ReadMeter,
): Promise<boolean[] | undefined> {
  const { fields, values, where } = queries;
  const [first] = values;
  if (first === undefined) return [];
  if (!countsEntries(view, queryOf(queries, first))) return undefined;
  const plans = planEach(view, { query: { where }, fields, values });
  const [plan] = plans;
  const ranges = rangesOf(plans);
  if (plan === undefined || ranges === undefined || !view.canRead(plan.index)) return undefined;
  meter.index = nameOfIndex(plan);
  await view.beginPage(plan.index);
  const found = values.map(() => false);
  const walk = new RangeWalk(view, ranges, { most: 1, withValues: false }, meter);
  while (!walk.isEnded) for (const { position } of await walk.next()) found[position] = true;
  // The first entry of a range may be of another model that was written by hand.
  const isKnown = walk.ranges.every(({ position, isWhole }) => found[position] || isWhole);
  return isKnown ? found : undefined;
}
