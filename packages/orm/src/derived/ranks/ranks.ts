import { limbsOf } from "../../model/aggregates/amount.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { amountChanges } from "../counters/counter-amounts.js";
import { maintainedAmounts, maintainedCounters } from "../counters/maintained-counters.js";
import type { Cost, Derived } from "../derived.js";
import { assertNotRanked } from "./assert-not-ranked.js";
import { placeChanges } from "./place-changes.js";
import { rankAmounts } from "./rank-amounts.js";
import { levels } from "./rank-keys.js";
import { rebalanceRegularly } from "./rebalance-ranks.js";

/** The intervals of ranked indexes, by which entries are counted and found by their position. */
export const ranks: Derived = {
  name: "ranks",
  isKept: ({ model, snapshot }) =>
    maintainedCounters(snapshot).hasRanks || model.indexes.some(({ ranked }) => ranked),
  plan({ before, after, beforeExpires, expiry, isSeen }, view, effects) {
    const { model, snapshot } = view;
    if (expiry !== undefined) assertNotRanked(model);
    const { hasRanks, recordsRows } = maintainedCounters(snapshot);
    if (!hasRanks) return;
    // A row that expires is in no interval.
    const isRanked = !(recordsRows && beforeExpires);
    const ranked = amountChanges(
      isRanked ? maintainedAmounts(view, before, isSeen, rankAmounts) : [],
      maintainedAmounts(view, after, true, rankAmounts),
    );
    if (ranked.length === 0) return;
    return placeChanges(view, ranked, effects).then(() => {
      effects.upkeep.push(() => rebalanceRegularly(view.store, ranked));
    });
  },
  cost: rankCost,
};

/** Returns how many fences a change checks, and how many numbers of intervals it changes. */
export function rankCost({ counters }: CompiledModel): Cost {
  const ranked = counters.flatMap(({ ranked: sums }) => (sums === undefined ? [] : [sums]));
  const numbers = ranked.map((sums) => 1 + sums.flatMap(limbsOf).length);
  const perLevel = numbers.reduce((total, count) => total + count, 0);
  return { checks: levels.length * ranked.length, writes: 2 * levels.length * perLevel };
}
