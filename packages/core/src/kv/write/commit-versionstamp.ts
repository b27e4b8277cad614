import type { KvKey, KvKeyPart } from "../../keys/key.js";
import type { KvSetKey } from "../atomic-operation.js";

/** The placeholder for the versionstamp of the commit, as the last part of a key. */
export const commitVersionstampSymbol: unique symbol = Symbol("KvCommitVersionstamp");

/** Returns a key without the placeholder at its end, or undefined if it does not end in one. */
export function partsBeforeVersionstamp(key: KvSetKey): KvKey | undefined {
  if (!Array.isArray(key) || key.at(-1) !== commitVersionstampSymbol) return undefined;
  return key.slice(0, -1) as KvKeyPart[];
}
