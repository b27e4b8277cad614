import type { KvKey, KvKeyPart } from "@keywright/core";
import type { Counter } from "../../model/aggregates/counter.js";
import { rankedAmounts } from "../../model/aggregates/ranked-amounts.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { IndexEntry } from "../../model/keys/index-entries.js";
import { counterKey } from "../counters/counter-keys.js";
import type { CounterSet } from "../counters/maintained-counters.js";

/** What an entry adds to one number of the intervals that contain it. */
export interface RankAmount {
  readonly counter: Counter;
  /** Identifies the number. The intervals that contain the entry must be found. */
  readonly key: KvKey;
  /** The number for a `sum`. It wraps around, so that it can subtract. */
  readonly by: bigint;
  /** The key of the entry without its first part. */
  readonly entry: readonly KvKeyPart[];
  /** See `rankedAmounts`. */
  readonly slot: string;
}

/** Returns what the entries of a row add to the intervals of ranked indexes. */
export function rankAmounts(
  { indexes }: CounterSet,
  row: AnyRow,
  entries: readonly IndexEntry[],
): RankAmount[] {
  const amounts: RankAmount[] = [];
  for (const { index, key } of entries) {
    for (const counter of indexes.get(index) ?? []) {
      if (counter.ranked === undefined) continue;
      const entry = key.slice(1);
      for (const [slot, by] of rankedAmounts(counter.ranked, row)) {
        amounts.push({ counter, key: counterKey(counter, [...entry, slot]), by, entry, slot });
      }
    }
  }
  return amounts;
}
