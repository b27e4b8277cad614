import type { StoredEntry } from "../../engine/engine.js";
import { decodeKey } from "../../keys/decode-key.js";
import type { KvKey } from "../../keys/key.js";
import { denoOrder } from "../../keys/key-order.js";
import type { KvEntry, KvEntryMaybe } from "../kv.js";
import { decodeStoredValue } from "../stored-entry.js";

/**
 * An entry as Deno gives it. When it expires stands in a property that is not enumerable, for `copyKv`: Deno's entries
 * have none.
 */
export function entryOf<T>(stored: StoredEntry): KvEntry<T> {
  const { key, versionstamp, expireAt } = stored;
  const value = decodeStoredValue(stored) as T;
  const entry: KvEntry<T> = { key: decodeKey(key, denoOrder), value, versionstamp };
  if (expireAt !== undefined) Object.defineProperty(entry, "expireAt", { value: expireAt });
  return entry;
}

/** The same, or for a key under which nothing is stored that key and nulls. */
export function entryMaybeOf<T>(key: KvKey, stored: StoredEntry | undefined): KvEntryMaybe<T> {
  return stored === undefined ? { key, value: null, versionstamp: null } : entryOf<T>(stored);
}
