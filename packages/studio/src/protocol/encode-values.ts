import { inspect } from "node:util";
import { encode, WireText } from "./wire.js";

const maxDepth = 4;

/**
 * Encodes what a call returns. Values that only the database knows become text, and so do values
 * that cannot be encoded, so that one of them does not hide the others.
 */
export function encodeValues(value: unknown): string {
  try {
    return encode(value, textOfUnknown);
  } catch {
    return encode(readable(value, 2 * maxDepth), textOfUnknown);
  }
}

function textOfUnknown(value: unknown): string | undefined {
  return isUnknown(value) ? textOf(value) : undefined;
}

function textOf(value: unknown): string {
  try {
    return inspect(value, { depth: maxDepth, breakLength: 100 });
  } catch {
    return "[a value that cannot be shown]";
  }
}

/** Replaces the parts of a value that cannot be encoded, down to a depth. */
function readable(value: unknown, depth: number): unknown {
  if (canEncode(value)) return value;
  if (depth > 0 && Array.isArray(value)) return value.map((each) => readable(each, depth - 1));
  if (depth > 0 && typeof value === "object" && value !== null && !isUnknown(value)) {
    const parts = Object.entries(value).map(([name, each]) => [name, readable(each, depth - 1)]);
    const object = Object.fromEntries(parts);
    if (canEncode(object)) return object;
  }
  return new WireText(textOf(value));
}

function canEncode(value: unknown): boolean {
  try {
    encode(value, textOfUnknown);
    return true;
  } catch {
    return false;
  }
}

const known: readonly (new (...args: never) => unknown)[] = [
  ...[Date, RegExp, Map, Set, URL, Array, WireText],
];

/** True for objects that are neither plain nor of the kinds that the wire format keeps. */
function isUnknown(value: unknown): boolean {
  if (typeof value === "function" || typeof value === "symbol") return true;
  if (typeof value !== "object" || value === null) return false;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value instanceof DataView;
  const prototype = Object.getPrototypeOf(value);
  return (
    prototype !== null && !known.some((Class) => value instanceof Class) && !isPlain(prototype)
  );
}

function isPlain(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null;
}
