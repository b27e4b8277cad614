import type { Counter } from "../../model/aggregates/counter.js";
import { countSlot } from "../../model/aggregates/ranked-amounts.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { RankAmount } from "./rank-amounts.js";
import { tendRanks } from "./tend-ranks.js";

/** After how many changes of entries the intervals of one of them are looked at. A prime number. */
const changesBetween = 17;

/** The longest pause after failures, as a number of such changes. */
const maxPause = 64;

interface Tending {
  changes: number;
  /** Back-off: total skips, and skips remaining. */
  pause: number;
  left: number;
}

const tendings = new WeakMap<Counter, Tending>();

/**
 * Splits or merges the intervals of ranked indexes that contain some of the changed entries, if
 * they have become too large or too small.
 */
export async function tendRegularly(
  store: ModelStore,
  changes: readonly RankAmount[],
): Promise<void> {
  const { catalog } = store;
  for (const { counter, entry, slot } of changes) {
    if (slot !== countSlot) continue;
    const tending = tendings.get(counter) ?? { changes: 0, pause: 0, left: 0 };
    tendings.set(counter, tending);
    if (++tending.changes % changesBetween !== 0 || tending.left-- > 0) continue;
    if (catalog.snapshot.counterState(counter.name) !== "readable") continue;
    try {
      const isDone = await tendRanks({ ...store, kv: catalog.database }, counter, entry);
      // If writers are too fast, they would only be slowed down.
      tending.pause = isDone ? 0 : Math.min(maxPause, 2 * tending.pause + 1);
      tending.left = tending.pause;
    } catch {
      // The write that it follows has not failed. The next call continues.
    }
  }
}
