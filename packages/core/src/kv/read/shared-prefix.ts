import type { KvKeyPart } from "../../keys/key.js";
import { isShared } from "../../keys/key-prefix.js";
import type { KvListSelector } from "../../keys/key-range.js";

/**
 * Returns parts with which all keys of a selector's range begin: its prefix, or else the first
 * parts that its start and its end have in common. None if its prefix has a `Uint8Array`, which is
 * decoded for each key, because it is mutable.
 */
export function sharedPrefix(selector: KvListSelector): readonly KvKeyPart[] {
  if ("prefix" in selector && selector.prefix !== undefined)
    return selector.prefix.every(isShared) ? [...selector.prefix] : [];
  const { start, end } = selector as { start: readonly KvKeyPart[]; end: readonly KvKeyPart[] };
  let length = 0;
  // 0 and -0 are different parts.
  while (length < start.length && isShared(start[length]!) && Object.is(start[length], end[length]))
    length++;
  return start.slice(0, length);
}
