import type { KvKey, KvKeyPart } from "@keywright/core";

const smallestPart: KvKeyPart = new Uint8Array();

/** Returns the smallest key that is larger than a key. */
export function keyAfter(key: KvKey): KvKey {
  return [...key, smallestPart];
}
