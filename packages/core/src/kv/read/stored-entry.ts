import type { VisitedEntry } from "../../engine/engine.js";
import { CorruptionError, UnreadableValueError } from "../../errors/core-errors.js";
import type { KvKey, KvKeyPart } from "../../keys/key.js";
import { decodeValue, decodeValueIn } from "../../values/decode-value.js";
import type { KvEntry } from "../kv.js";

/** Returns an entry with its decoded value. Throws as {@link decodeStoredValue} does. */
export function toKvEntry<T>(key: KvKey, stored: VisitedEntry): KvEntry<T> {
  const { versionstamp, expireAt } = stored;
  const value = decodeStoredValue(stored) as T;
  return expireAt === undefined
    ? { key, value, versionstamp }
    : { key, value, versionstamp, expireAt };
}

/**
 * Decodes the key of an entry.
 *
 * @param decode decodes the key, or its part after a known prefix.
 * @throws {CorruptionError} with the key, if its bytes are not a key.
 */
export function decodeStoredKey(key: Uint8Array, decode: () => KvKeyPart[]): KvKeyPart[] {
  try {
    return decode();
  } catch (cause) {
    throw undecodableKey(key, cause);
  }
}

/** Returns the error for a stored key whose bytes are not a key. Copies the key. */
export function undecodableKey(key: Uint8Array, cause: unknown): CorruptionError {
  return new CorruptionError("a stored key cannot be decoded", Uint8Array.from(key), cause);
}

/**
 * Decodes the value of an entry.
 *
 * @param wanted the properties that the caller needs if the value is an object. Others may be left
 * out.
 * @throws {CorruptionError} with the key, if its bytes are not a value.
 * @throws {UnreadableValueError} if the runtime does not support a regular expression in the value.
 */
export function decodeStoredValue(entry: VisitedEntry, wanted?: ReadonlySet<string>): unknown {
  const { memory } = entry;
  try {
    return memory === undefined
      ? decodeValue(entry.value, wanted)
      : decodeValueIn(memory.record, memory.valueStart, memory.valueEnd, wanted);
  } catch (cause) {
    if (cause instanceof UnreadableValueError) throw cause;
    // The engine may use the memory of the key for the next entry.
    const key = Uint8Array.from(entry.key);
    throw new CorruptionError("a stored value cannot be decoded", key, cause);
  }
}
