import type { Kv, KvKey, KvListSelector, KvRangeChange } from "@keywright/core";

/** The keys and ranges whose changes may change a live query. */
export interface Watched {
  readonly keys: readonly KvKey[];
  readonly ranges: readonly KvListSelector[];
  /** The change marks of the ranges, which replace `ranges` if the database cannot watch ranges. */
  readonly marks: readonly KvKey[];
}

/** A database that reports which keys of a range change, as those that `openKv` opens do. */
export interface RangeWatchingKv extends Kv {
  watchRange(selectors: readonly KvListSelector[]): ReadableStream<KvRangeChange>;
}

export function canWatchRanges(kv: Kv): kv is RangeWatchingKv {
  return typeof (kv as Partial<RangeWatchingKv>).watchRange === "function";
}
