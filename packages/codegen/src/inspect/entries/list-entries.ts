import { Buffer } from "node:buffer";
import {
  encodeKey,
  InvalidSelectorError,
  type KvEntry,
  type KvKey,
  type KvLike,
  type KvListSelector,
} from "@keywright/core";

export interface EntryRange {
  /** Entries whose keys begin with these parts and have more parts. All entries if undefined. */
  readonly prefix?: KvKey | undefined;
  /** Inclusive. */
  readonly start?: KvKey | undefined;
  /** Exclusive. */
  readonly end?: KvKey | undefined;
}

export interface ReadOptions {
  readonly limit?: number | undefined;
  readonly reverse?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The number of entries in a batch, which is the maximum of a database. */
const batchSize = 500;

/** Reads in batches, so entries that are written during the call may be missing. */
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
    // Deno's type of a key allows a placeholder part, which keys that were read never contain.
    yield entry as KvEntry<unknown>;
  }
}

export function selectorOf({ prefix = [], start, end }: EntryRange): KvListSelector {
  if (start === undefined) return end === undefined ? { prefix } : { prefix, end };
  if (end === undefined) return { prefix, start };
  // A selector can combine a prefix with only one of the two.
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
