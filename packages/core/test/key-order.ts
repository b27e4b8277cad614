import type { KvKey, KvKeyPart } from "../src/keys/key.js";
import { hasSignBit } from "./javascript-engine.js";

type TypeOrder = "number before bigint" | "bigint before number";

/**
 * The order of keys, written from the specification alone: part by part, by type and then by value.
 */
export function compareParts(
  a: KvKey,
  b: KvKey,
  types: TypeOrder = "number before bigint",
): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = comparePart(a[i]!, b[i]!, types);
    if (order !== 0) return order;
  }
  return Math.sign(a.length - b.length);
}

/** Whether the parts of `key` begin with those of `prefix`. */
export function hasPartPrefix(key: KvKey, prefix: KvKey): boolean {
  return (
    prefix.length <= key.length &&
    prefix.every((part, index) => comparePart(part, key[index]!, "number before bigint") === 0)
  );
}

function comparePart(a: KvKeyPart, b: KvKeyPart, types: TypeOrder): number {
  const byType = typeRank(a, types) - typeRank(b, types);
  if (byType !== 0) return Math.sign(byType);
  if (typeof a === "number") return compareNumbers(a, b as number);
  if (typeof a === "string") return compareLists(codePoints(a), codePoints(b as string));
  if (a instanceof Uint8Array) return compareLists([...a], [...(b as Uint8Array)]);
  return a === b ? 0 : a < b ? -1 : 1;
}

function typeRank(part: KvKeyPart, types: TypeOrder): number {
  if (part instanceof Uint8Array) return 0;
  const numeric = types.split(" before ");
  return ["string", ...numeric, "boolean"].indexOf(typeof part) + 1;
}

/** -NaN < -Infinity < … < -0 < 0 < … < Infinity < NaN */
function compareNumbers(a: number, b: number): number {
  const nan = nanSide(a) - nanSide(b);
  if (nan !== 0 || Number.isNaN(a)) return Math.sign(nan);
  if (a !== b) return a < b ? -1 : 1;
  return Number(hasSignBit(b)) - Number(hasSignBit(a));
}

function nanSide(value: number): number {
  if (!Number.isNaN(value)) return 0;
  return hasSignBit(value) ? -1 : 1;
}

/** The order of UTF-8 bytes is the order of code points. */
function codePoints(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0)!);
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  if (at === -1) return Math.sign(a.length - b.length);
  return at >= b.length ? 1 : Math.sign(a[at]! - b[at]!);
}
