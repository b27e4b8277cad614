import { types } from "node:util";
import { decodeValue, encodeValue, KvU64 } from "@keywright/core";
import { valueOfWord, wordOf } from "./value-token.js";

/** A value that a JSON document can contain. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

/** No JSON parser runs out of stack at this depth. Deeper values are encoded instead. */
const maxDepth = 64;

const dateMark = "date:";
const u64Mark = "u64:";

/**
 * Converts a stored value to JSON if JSON can represent all of it. `{"$": "1n"}` represents a word
 * of `wordOf`. `undefined`, `date:2026-01-31T00:00:00.000Z` and `u64:1` (a `KvU64`) are written in
 * the same way. An object whose only property is `$` is wrapped in another one: `{"$": {"$":
 * "1n"}}`.
 *
 * @returns undefined if the value contains anything else, such as a `Map`, a hole in an array, or
 * an object that occurs twice.
 */
export function jsonOfValue(value: unknown): Json | undefined {
  const json = jsonOf(value, new Set(), 0);
  if (json !== undefined || typeof value !== "object") return json;
  const number = asU64(value);
  return number && { $: `${u64Mark}${number.value}` };
}

/** Converts a `KvU64` of any implementation. Returns undefined for other values. */
export function asU64(value: unknown): KvU64 | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (typeof (value as { value?: unknown }).value !== "bigint") return undefined;
  const decoded = decodeValue(encodeValue(value));
  return decoded instanceof KvU64 ? decoded : undefined;
}

/** Converts the result of {@link jsonOfValue} back to the value. */
export function valueOfJson(json: Json): unknown {
  const { $: text } = (json ?? {}) as { readonly $?: Json };
  if (typeof text === "string" && text.startsWith(u64Mark) && isMarked(json)) {
    return new KvU64(BigInt(text.slice(u64Mark.length)));
  }
  return plainValueOf(json, 0);
}

function jsonOf(value: unknown, seen: Set<object>, depth: number): Json | undefined {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() ? value : undefined;
    case "boolean":
      return value;
    case "number":
    case "bigint":
      return marked(wordOf(value)) ?? (value as number);
    case "undefined":
      return marked("undefined");
    case "object":
      return value === null ? null : jsonOfObject(value, seen, depth);
    default:
      return undefined;
  }
}

function jsonOfObject(value: object, seen: Set<object>, depth: number): Json | undefined {
  const isNew = !seen.has(value);
  seen.add(value);
  if (!isNew || depth > maxDepth || types.isProxy(value)) return undefined;
  switch (Object.getPrototypeOf(value)) {
    case Object.prototype:
      return jsonOfPlain(value, seen, depth);
    case Array.prototype:
      return Array.isArray(value) ? jsonOfArray(value, seen, depth) : undefined;
    case Date.prototype:
      return types.isDate(value) && !Number.isNaN(value.getTime())
        ? marked(`${dateMark}${value.toISOString()}`)
        : undefined;
    case Uint8Array.prototype:
      return types.isUint8Array(value) ? jsonOfBytes(value, seen) : undefined;
    default:
      return undefined;
  }
}

function jsonOfPlain(object: object, seen: Set<object>, depth: number): Json | undefined {
  const properties: [string, Json][] = [];
  for (const [name, value] of Object.entries(object)) {
    const json = name.isWellFormed() ? jsonOf(value, seen, depth + 1) : undefined;
    if (json === undefined) return undefined;
    properties.push([name, json]);
  }
  const json = Object.fromEntries(properties);
  return isMarked(json) ? { $: json } : json;
}

function jsonOfArray(
  array: readonly unknown[],
  seen: Set<object>,
  depth: number,
): Json | undefined {
  if (Object.keys(array).length !== array.length) return undefined;
  const elements: Json[] = [];
  for (let index = 0; index < array.length; index++) {
    const json = Object.hasOwn(array, index) ? jsonOf(array[index], seen, depth + 1) : undefined;
    if (json === undefined) return undefined;
    elements.push(json);
  }
  return elements;
}

/** Only `encodeValue` preserves that two views share a buffer. */
function jsonOfBytes(bytes: Uint8Array, seen: Set<object>): Json | undefined {
  if (seen.has(bytes.buffer)) return undefined;
  seen.add(bytes.buffer);
  return marked(wordOf(bytes));
}

function marked(word: string | undefined): Json | undefined {
  return word === undefined ? undefined : { $: word };
}

function isMarked(json: Json): boolean {
  const names = Object.keys(json as object);
  return names.length === 1 && names[0] === "$";
}

function plainValueOf(json: Json, depth: number): unknown {
  if (typeof json !== "object" || json === null) return json;
  if (depth > 2 * maxDepth + 2)
    throw new TypeError("the value is nested more deeply than in an export");
  if (Array.isArray(json)) return json.map((element: Json) => plainValueOf(element, depth + 1));
  const object = json as { readonly [name: string]: Json };
  if (!isMarked(object)) return propertiesOf(object, depth);
  const { $: inner } = object;
  if (typeof inner === "string") return valueOfMark(inner);
  if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) {
    return propertiesOf(inner as { readonly [name: string]: Json }, depth + 1);
  }
  throw new TypeError('the value contains a "$" that represents no value');
}

function propertiesOf(object: { readonly [name: string]: Json }, depth: number): object {
  // `fromEntries` creates an own property for every name, including `__proto__`.
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, plainValueOf(value, depth + 1)]),
  );
}

function valueOfMark(word: string): unknown {
  if (word === "undefined") return undefined;
  const [value] = valueOfWord(word);
  if (value !== undefined) return value;
  if (word.startsWith(dateMark)) {
    const date = new Date(word.slice(dateMark.length));
    if (!Number.isNaN(date.getTime())) return date;
  }
  throw new TypeError('the value contains a "$" that represents no value');
}
