import type { StoredEntry } from "../engine/engine.js";
import { CorruptionError, UnreadableValueError } from "../errors/core-errors.js";
import type { KvKey } from "../keys/key.js";
import { decodeValue } from "../values/decode-value.js";
import type { KvEntry } from "./kv.js";

/**
 * An entry as its reader gets it.
 *
 * @throws {CorruptionError} where its bytes are no value.
 */
export function entryOf<T>(key: KvKey, stored: StoredEntry): KvEntry<T> {
  const { versionstamp, expireAt } = stored;
  const value = decodeStoredValue(stored) as T;
  return expireAt === undefined
    ? { key, value, versionstamp }
    : { key, value, versionstamp, expireAt };
}

/**
 * The value of an entry.
 *
 * @throws {CorruptionError} with the key, if its bytes are not a value.
 * @throws {UnreadableValueError} if the value has a regular expression that this runtime does not know.
 */
export function decodeStoredValue(entry: StoredEntry): unknown {
  try {
    return decodeValue(entry.value);
  } catch (cause) {
    if (cause instanceof UnreadableValueError) throw cause;
    throw new CorruptionError("a stored value cannot be decoded", entry.key, cause);
  }
}
