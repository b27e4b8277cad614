import { Buffer } from "node:buffer";
import type { KvKey, KvKeyPart } from "@keywright/core";

/**
 * A text that two keys share only where `isSameKey` says that they are the same, to find keys among many. It takes any key,
 * also one that cannot be stored.
 */
export function keyText(key: KvKey): string {
  let text = "";
  for (const part of key) text += partText(part);
  return text;
}

/** The same for a part of a key: no text begins another. */
export function partText(part: KvKeyPart): string {
  if (typeof part === "object") {
    return `u${part.length}:${Buffer.from(part.buffer, part.byteOffset, part.length).toString("latin1")}`;
  }
  if (typeof part === "string") return `s${part.length}:${part}`;
  return `${typeof part} ${Object.is(part, -0) ? "-0" : part},`;
}
