import type { TableContext } from "../../context/table-context.js";
import type { Counter } from "../../model/aggregates/counter.js";
import { countSlot } from "../../model/aggregates/ranked-amounts.js";
import type { RankedChanges } from "../../ranks/place-changes.js";
import { tendRanks } from "../../ranks/tend-ranks.js";

/** After how many changes of entries the intervals of one of them are looked at. A prime number. */
const changesBetween = 17;

/** The longest pause after failures, as a number of such changes. */
const maxPause = 64;

interface Tending {
  changes: number;
  /** How many times it is left out, and how many of these are still to come. */
  pause: number;
  left: number;
}

const tendings = new WeakMap<Counter, Tending>();

/**
 * Splits or merges the intervals of ranked indexes that contain some of the changed entries, if
 * they have become too large or too small. Within a transaction, this is done after its commit.
 */
export async function tendRegularly(context: TableContext, ranked: RankedChanges): Promise<void> {
  const { catalog, transaction } = context;
  for (const { ranked: place } of ranked) {
    const { counter, entry, slot } = place;
    if (slot !== countSlot) continue;
    const tending = tendings.get(counter) ?? { changes: 0, pause: 0, left: 0 };
    tendings.set(counter, tending);
    if (++tending.changes % changesBetween !== 0 || tending.left-- > 0) continue;
    const tend = async () => {
      if (catalog.snapshot.counterState(counter.name) !== "readable") return;
      try {
        const isDone = await tendRanks({ ...context, kv: catalog.database }, counter, entry);
        // If writers are too fast, they would only be slowed down.
        tending.pause = isDone ? 0 : Math.min(maxPause, 2 * tending.pause + 1);
        tending.left = tending.pause;
      } catch {
        // The write that it follows has not failed. The next call continues.
      }
    };
    if (transaction === undefined) await tend();
    else transaction.afterCommit(tend);
  }
}
