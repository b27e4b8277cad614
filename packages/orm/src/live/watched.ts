import type { Kv, KvKey, KvListSelector, KvRangeChange } from "@keywright/core";

/** What a live query has to be told of. */
export interface Watched {
  /** Single entries. */
  readonly keys: readonly KvKey[];
  /** Ranges of entries. */
  readonly ranges: readonly KvListSelector[];
  /** The marks that change whenever the ranges do, for databases that do not tell of ranges. */
  readonly marks: readonly KvKey[];
}

/** A database that tells which keys of a range change: what `openKv` opens. */
export interface RangeWatchingKv extends Kv {
  watchRange(selectors: readonly KvListSelector[]): ReadableStream<KvRangeChange>;
}

/** Whether a database tells which keys of a range change. */
export function tellsOfRanges(kv: Kv): kv is RangeWatchingKv {
  return typeof (kv as Partial<RangeWatchingKv>).watchRange === "function";
}
