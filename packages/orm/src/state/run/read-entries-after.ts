import type { Kv, KvEntry, KvKey } from "@keywright/core";
import { canBeStored } from "../../model/keys/can-be-stored.js";
import { isSameKey, keyAfter } from "../../model/keys/key-parts.js";
import type { TableLimits } from "../context/model-store.js";

/** A database to list, and its limits. A table context is one. */
export interface EntrySource {
  readonly kv: Pick<Kv, "list">;
  readonly limits: Pick<TableLimits, "keyBytes" | "batchSize">;
}

/**
 * Returns the next entries whose keys begin with a prefix, in order.
 *
 * @param after the key after which to begin, of any length that the database takes; null to begin
 * at the first entry.
 * @param limit the maximum number of entries. Fewer are returned only at the end.
 */
export async function readEntriesAfter<T>(
  { kv, limits }: EntrySource,
  prefix: KvKey,
  after: KvKey | null,
  limit: number,
): Promise<KvEntry<T>[]> {
  const nextKey = after === null ? null : keyAfter(after);
  // The key right after a long key may be too long for a selector. Then the entry with the long key
  // is read again and left out.
  const isTooLong = nextKey !== null && !canBeStored(nextKey, limits.keyBytes);
  const start = isTooLong ? after : nextKey;
  const selector = start === null ? { prefix } : { prefix, start };
  const maxEntries = isTooLong ? limit + 1 : limit;
  const batchSize = Math.min(maxEntries, limits.batchSize);
  const entries: KvEntry<T>[] = [];
  for await (const entry of kv.list<T>(selector, { limit: maxEntries, batchSize })) {
    const isStartEntry = isTooLong && after !== null && isSameKey(entry.key, after);
    if (!isStartEntry) entries.push(entry);
  }
  return entries.length > limit ? entries.slice(0, limit) : entries;
}
