import type { Counter } from "../../model/aggregates/counter.js";
import { countSlot } from "../../model/aggregates/ranked-amounts.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { RankAmount } from "./rank-amounts.js";
import { rebalanceRanks } from "./rebalance-ranks.js";

/** After how many changes of entries the intervals of one of them are looked at. A prime number. */
const changesBetween = 17;

/** The longest pause after failures, as a number of such changes. */
const maxPause = 64;

interface Schedule {
  changes: number;
  /** Back-off: total skips, and skips remaining. */
  pause: number;
  left: number;
}

const schedules = new WeakMap<Counter, Schedule>();

/**
 * Splits or merges the intervals of ranked indexes that contain some of the changed entries, if
 * they have become too large or too small.
 */
export async function rebalanceRegularly(
  store: ModelStore,
  changes: readonly RankAmount[],
): Promise<void> {
  const { catalog } = store;
  for (const { counter, entry, slot } of changes) {
    if (slot !== countSlot) continue;
    const schedule = schedules.get(counter) ?? { changes: 0, pause: 0, left: 0 };
    schedules.set(counter, schedule);
    if (++schedule.changes % changesBetween !== 0 || schedule.left-- > 0) continue;
    if (catalog.snapshot.counterState(counter.name) !== "readable") continue;
    try {
      const isDone = await rebalanceRanks({ ...store, kv: catalog.database }, counter, entry);
      // If writers are too fast, they would only be slowed down.
      schedule.pause = isDone ? 0 : Math.min(maxPause, 2 * schedule.pause + 1);
      schedule.left = schedule.pause;
    } catch {
      // The write that it follows has not failed. The next call continues.
    }
  }
}
