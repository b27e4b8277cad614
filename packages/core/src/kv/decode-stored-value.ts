import type { StoredEntry } from "../engine/engine.js";
import { CorruptionError } from "../errors/core-errors.js";
import { decodeValue } from "../values/decode-value.js";

/**
 * The value of an entry.
 *
 * @throws {CorruptionError} with the key, where its bytes are no value.
 */
export function decodeStoredValue(entry: StoredEntry): unknown {
  try {
    return decodeValue(entry.value);
  } catch (cause) {
    throw new CorruptionError("a stored value cannot be decoded", entry.key, cause);
  }
}
