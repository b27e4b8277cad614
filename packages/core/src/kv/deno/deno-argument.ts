import { types } from "node:util";
import { InvalidOptionError } from "../../errors/core-errors.js";
import type { KvConsistencyLevel } from "../kv.js";
import { denoError, type OwnError } from "./deno-error.js";

type TypeTest = readonly [name: string, test: (value: unknown) => boolean];

/** The names of object types in the errors of `serde_v8`, which converts arguments for Deno. */
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

export function wrongType(own: OwnError, expected: string, value: unknown): Error {
  return denoError(
    own,
    `serde_v8 error: invalid type; expected: ${expected}, got: ${typeName(value)}`,
  );
}

/** Converts a number or a bigint to an integer as Deno does: the fraction is dropped. */
export function takeInteger(option: string, value: unknown): number {
  if (typeof value !== "number" && typeof value !== "bigint") {
    throw wrongType(new InvalidOptionError(option, "must be a number"), "integer", value);
  }
  return Math.trunc(Number(value));
}

/** @throws {TypeError} unless the value is a string whose characters are all at most U+00FF. */
export function assertByteString(own: OwnError, value: unknown): asserts value is string {
  if (typeof value !== "string") throw wrongType(own, "string", value);
  for (let i = 0; i < value.length; i++) {
    if (value.charCodeAt(i) <= 0xff) continue;
    throw denoError(own, "serde_v8 error: invalid type, expected: latin1");
  }
}

/** @throws {TypeError} unless the value is one of the two consistency levels. */
export function assertConsistency(value: unknown): asserts value is KvConsistencyLevel {
  if (value === "strong" || value === "eventual") return;
  const own = new InvalidOptionError("consistency", 'must be "strong" or "eventual"');
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
  // A proxy of a typed array has no tag, but it is already known as a proxy.
  return known?.[0] ?? typedArrayName(value) ?? "unknown";
}

function typedArrayName(value: object): string | undefined {
  return Reflect.get(typedArrayPrototype, Symbol.toStringTag, value) as string | undefined;
}
