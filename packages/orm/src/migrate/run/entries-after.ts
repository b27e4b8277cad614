import type { Kv, KvEntry, KvKey } from "@keywright/core";
import type { TableLimits } from "../../context/table-context.js";
import { canBeStored } from "../../indexes/can-be-stored.js";
import { isSameKey } from "../../indexes/key-parts.js";

const nothing = new Uint8Array();

/**
 * The next entries whose keys begin with a prefix, in order.
 *
 * @param after the key behind which they begin, which may be as long as the database takes it; null for the first ones.
 * @param limit entries at the most; there are fewer only at the end.
 */
export async function entriesAfter<T>(
  kv: Pick<Kv, "list">,
  limits: Pick<TableLimits, "keyBytes" | "batchSize">,
  prefix: KvKey,
  after: KvKey | null,
  limit: number,
): Promise<KvEntry<T>[]> {
  const behind = after === null ? null : [...after, nothing];
  // The key right behind a long one is too long to be read from: then the entry itself is read again, and left out.
  const isTooLong = behind !== null && !canBeStored(behind, limits.keyBytes);
  const start = isTooLong ? after : behind;
  const selector = start === null ? { prefix } : { prefix, start };
  const most = isTooLong ? limit + 1 : limit;
  const batchSize = Math.min(most, limits.batchSize);
  const entries: KvEntry<T>[] = [];
  for await (const entry of kv.list<T>(selector, { limit: most, batchSize })) {
    const isBefore = isTooLong && after !== null && isSameKey(entry.key, after);
    if (!isBefore) entries.push(entry);
  }
  return entries.length > limit ? entries.slice(0, limit) : entries;
}
