import type { KvKey, KvKeyPart } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";

/**
 * Returns a text that is equal for two keys if and only if `isSameKey` is true for them. Sets and
 * maps of keys use it. Accepts any key, even one that cannot be stored.
 */
export function keyText(key: KvKey): string {
  let text = "";
  for (const part of key) text += partText(part);
  return text;
}

/** Returns such a text for a part of a key. No text is a prefix of another. */
export function partText(part: KvKeyPart): string {
  if (typeof part === "object") {
    return `u${part.length}:${Buffer.from(part.buffer, part.byteOffset, part.length).toString("latin1")}`;
  }
  if (typeof part === "string") return `s${part.length}:${part}`;
  return `${typeof part} ${Object.is(part, -0) ? "-0" : part},`;
}
