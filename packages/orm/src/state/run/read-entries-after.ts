import type { Kv, KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { canBeStored } from "../../model/keys/can-be-stored.js";
import { isSameKey, keyAfter } from "../../model/keys/key-parts.js";
import type { ModelStore, TableLimits } from "../context/model-store.js";

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

/**
 * Returns the next entries under a model's prefix, in order. These are the model's rows, and
 * entries whose keys begin with the key of a row and have more key parts.
 *
 * @param after the primary key after which to begin; null to begin at the first row.
 * @param limit the maximum number of entries, at most `maxBatchRows`. Fewer are returned only
 * at the end.
 */
export async function readNextRows(
  context: ModelStore,
  after: readonly KvKeyPart[] | null,
  limit: number,
): Promise<KvEntry<AnyRow>[]> {
  const prefix = [context.model.place];
  const afterKey = after === null ? null : [...prefix, ...after];
  return await readEntriesAfter<AnyRow>(context, prefix, afterKey, limit);
}
