import { encodeValue } from "@keywright/core";
import { Buffer, isDeepStrictEqual } from "@keywright/core/platform";

/**
 * True if two values that can be stored are the same, at any depth. An invalid date is the same as
 * another one, which `isDeepStrictEqual` of Node.js denies.
 */
export function isSameData(a: unknown, b: unknown): boolean {
  if (isDeepStrictEqual(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  try {
    return Buffer.compare(encodeValue(a), encodeValue(b)) === 0;
  } catch {
    return false;
  }
}
