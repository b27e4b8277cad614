import type { StoredEntry } from "../../../engine/engine.js";
import { decodeKey } from "../../../keys/decode-key.js";
import type { KvKey } from "../../../keys/key.js";
import { denoOrder } from "../../../keys/key-order.js";
import type { KvEntry, KvEntryMaybe } from "../../kv.js";
import { decodeStoredKey, decodeStoredValue } from "../../read/stored-entry.js";

/**
 * Returns an entry as Deno does. The property `expireAt` is for `copyKv`. It is not enumerable,
 * because Deno's entries have no such property.
 */
export function toDenoEntry<T>(stored: StoredEntry): KvEntry<T> {
  const { versionstamp, expireAt } = stored;
  const key = decodeStoredKey(stored.key, () => decodeKey(stored.key, denoOrder));
  const value = decodeStoredValue(stored) as T;
  const entry: KvEntry<T> = { key, value, versionstamp };
  if (expireAt !== undefined) Object.defineProperty(entry, "expireAt", { value: expireAt });
  return entry;
}

export function entryMaybeOf<T>(key: KvKey, stored: StoredEntry | undefined): KvEntryMaybe<T> {
  return stored === undefined ? { key, value: null, versionstamp: null } : toDenoEntry<T>(stored);
}
