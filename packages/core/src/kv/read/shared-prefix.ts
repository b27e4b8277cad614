import type { KvKeyPart } from "../../keys/key.js";
import type { KvListSelector } from "../../keys/key-range.js";

/**
 * Returns the prefix of a selector, which all keys of its range have. None if it has a `Uint8Array`,
 * which is decoded for each key, because it is mutable.
 */
export function sharedPrefix(selector: KvListSelector): readonly KvKeyPart[] {
  if (!("prefix" in selector) || selector.prefix === undefined) return [];
  for (const part of selector.prefix) if (typeof part === "object") return [];
  return [...selector.prefix];
}
