import { Buffer } from "node:buffer";
import {
  encodeKey,
  InvalidSelectorError,
  type KvEntry,
  type KvKey,
  type KvLike,
  type KvListSelector,
} from "@keywright/core";

/** Which entries of a database are looked at. */
export interface EntryRange {
  /** Without it, all. The entry of just this key is not under it. */
  readonly prefix?: KvKey | undefined;
  /** Inclusive. */
  readonly start?: KvKey | undefined;
  /** Exclusive. */
  readonly end?: KvKey | undefined;
}

/** How they are read. */
export interface ReadOptions {
  readonly limit?: number | undefined;
  readonly reverse?: boolean | undefined;
  /** Ends the list. */
  readonly signal?: AbortSignal | undefined;
}

/** As many as a batch of a database has at the most. */
const batchSize = 500;

/**
 * The entries of a range, read in batches: what is written meanwhile may or may not be among them.
 *
 * @throws {InvalidSelectorError} where `start` or `end` is not under `prefix`, or `start` is behind `end`.
 */
export async function* listEntries(
  kv: KvLike,
  range: EntryRange,
  { limit, reverse, signal }: ReadOptions = {},
): AsyncGenerator<KvEntry<unknown>> {
  const options = {
    batchSize: Math.min(batchSize, limit ?? batchSize),
    ...(limit !== undefined && { limit }),
    ...(reverse !== undefined && { reverse }),
  };
  for await (const entry of kv.list(selectorOf(range), options)) {
    if (signal?.aborted) return;
    // The placeholder that Deno's types count among the parts of a key is in none that was read.
    yield entry as KvEntry<unknown>;
  }
}

function selectorOf({ prefix = [], start, end }: EntryRange): KvListSelector {
  if (start === undefined) return end === undefined ? { prefix } : { prefix, end };
  if (end === undefined) return { prefix, start };
  // A prefix goes with one of the two only.
  assertUnder(prefix, start, "start");
  assertUnder(prefix, end, "end");
  return { start, end };
}

function assertUnder(prefix: KvKey, key: KvKey, name: string): void {
  const isUnder =
    key.length > prefix.length &&
    Buffer.from(encodeKey(prefix)).equals(encodeKey(key.slice(0, prefix.length)));
  if (!isUnder) throw new InvalidSelectorError(`its ${name} must extend its prefix`);
}
