import { inspect } from "node:util";
import { encode } from "./wire.js";

const maxDepth = 4;

/** Encodes what a call returns. Values that only the database knows become text. */
export function encodeValues(value: unknown): string {
  return encode(value, (each) => {
    if (!isUnknown(each)) return undefined;
    return inspect(each, { depth: maxDepth, breakLength: 100 });
  });
}

const known: readonly (new (...args: never) => unknown)[] = [Date, RegExp, Map, Set, URL, Array];

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
