import { types } from "node:util";
import { InvalidOptionError } from "../../errors/core-errors.js";
import type { KvConsistencyLevel } from "../kv.js";
import { denoError, type OwnError } from "./deno-error.js";

type TypeTest = readonly [name: string, test: (value: unknown) => boolean];

/** What `serde_v8`, which takes the arguments over for Deno, calls the types of objects; all others are `unknown`. */
const objectTypes: readonly TypeTest[] = [
  ["Proxy", types.isProxy],
  ["array", Array.isArray],
  ["Generator function", types.isGeneratorFunction],
  ["Async function", types.isAsyncFunction],
  ["function", (value) => typeof value === "function"],
  ["Date", types.isDate],
  ["Map", types.isMap],
  ["Set", types.isSet],
  ["WeakMap", types.isWeakMap],
  ["WeakSet", types.isWeakSet],
  ["RegExp", types.isRegExp],
  ["Promise", types.isPromise],
  ["ArrayBuffer", types.isArrayBuffer],
  ["SharedArrayBuffer", types.isSharedArrayBuffer],
  ["DataView", types.isDataView],
  ["Map Iterator", types.isMapIterator],
  ["Set Iterator", types.isSetIterator],
];

const typedArrayPrototype: object = Object.getPrototypeOf(Uint8Array.prototype);

/** The error for an argument of another type than the one that Deno expects there. */
export function wrongType(own: OwnError, expected: string, value: unknown): Error {
  return denoError(
    own,
    `serde_v8 error: invalid type; expected: ${expected}, got: ${typeName(value)}`,
  );
}

/**
 * The number that Deno makes of a number or a bigint: without its fraction. `option` is its name.
 *
 * @throws {TypeError} for what is neither.
 */
export function takeInteger(option: string, value: unknown): number {
  if (typeof value !== "number" && typeof value !== "bigint") {
    throw wrongType(new InvalidOptionError(option, "it is a number"), "integer", value);
  }
  return Math.trunc(Number(value));
}

/** @throws {TypeError} for anything but a string of bytes, one for each character. */
export function assertByteString(own: OwnError, value: unknown): asserts value is string {
  if (typeof value !== "string") throw wrongType(own, "string", value);
  for (let i = 0; i < value.length; i++) {
    if (value.charCodeAt(i) <= 0xff) continue;
    throw denoError(own, "serde_v8 error: invalid type, expected: latin1");
  }
}

/** @throws {TypeError} unless it is one of the two levels. */
export function assertConsistency(value: unknown): asserts value is KvConsistencyLevel {
  if (value === "strong" || value === "eventual") return;
  const own = new InvalidOptionError("consistency", 'it is "strong" or "eventual"');
  if (typeof value === "string") {
    throw denoError(own, `unknown variant \`${value}\`, expected \`strong\` or \`eventual\``);
  }
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  if (!isObject) throw wrongType(own, "enum", value);
  const { length } = Object.keys(value);
  throw denoError(own, `serde_v8 error: length mismatch, got: ${length}, expected: 1`);
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number") return "Number";
  if (typeof value === "boolean") return "Boolean";
  if (typeof value !== "object" && typeof value !== "function") return typeof value;
  const known = objectTypes.find(([, test]) => test(value));
  // A proxy of a typed array has no such tag, and is known already.
  return known?.[0] ?? typedArrayName(value) ?? "unknown";
}

function typedArrayName(value: object): string | undefined {
  return Reflect.get(typedArrayPrototype, Symbol.toStringTag, value) as string | undefined;
}
