import { decodeValue, encodeValue } from "@keywright/core";

/**
 * Returns a value as Keywright stores it, and the bytes of its encoding. Other libraries have a
 * `KvU64` of their own, and values that Keywright cannot store. Their bytes are null.
 */
export function storedValue(value: unknown): { value: unknown; bytes: number | null } {
  try {
    const encoded = encodeValue(value);
    return { value: decodeValue(encoded), bytes: encoded.length };
  } catch {
    return { value, bytes: null };
  }
}
