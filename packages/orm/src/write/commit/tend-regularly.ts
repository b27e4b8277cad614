import type { TableContext } from "../../context/table-context.js";
import type { Counter } from "../../model/aggregates/counter.js";
import type { RankedChanges } from "../../ranks/place-changes.js";
import { tendRanks } from "../../ranks/tend-ranks.js";

/** After how many changes of entries the intervals of one of them are looked at. A prime number. */
const changesBetween = 17;

const changesOf = new WeakMap<Counter, number>();

/**
 * Splits or merges the intervals of ranked indexes that contain some of the changed entries, if
 * they have become too large or too small. Within a transaction, this is done after its commit.
 */
export async function tendRegularly(context: TableContext, ranked: RankedChanges): Promise<void> {
  const { catalog, transaction } = context;
  for (const { ranked: place } of ranked) {
    const { counter, entry } = place;
    const changes = (changesOf.get(counter) ?? 0) + 1;
    changesOf.set(counter, changes);
    if (changes % changesBetween !== 0) continue;
    const tend = async () => {
      if (catalog.snapshot.counterState(counter.name) !== "readable") return;
      try {
        await tendRanks({ ...context, kv: catalog.database }, counter, entry);
      } catch {
        // The write that it follows has not failed. The next call continues.
      }
    };
    if (transaction === undefined) await tend();
    else transaction.afterCommit(tend);
  }
}
