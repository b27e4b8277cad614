import { WireU64 } from "../../src/protocol/wire.js";
import { bytesIn, hexText } from "./hex-text.js";
import { dateText, isText, valueText } from "./value-text.js";

// JSON has no dates, bigints, bytes, maps and sets. They are written as an object with one name
// that begins with `$`, so that a value can be edited as JSON without losing anything.

/** Larger values are cut. A value that was cut cannot be saved. */
const maxParts = 20_000;

/** Returns a value that JSON can write. */
export function tagged(value: unknown): unknown {
  let parts = 0;
  const path = new Set<object>();
  const within = (each: unknown): unknown => {
    if (typeof each !== "object" || each === null) return taggedPart(each, within);
    parts += 1;
    // An object can contain itself, or share parts again and again.
    if (parts > maxParts || path.has(each) || path.size > 200) return { $text: "…" };
    path.add(each);
    const written = taggedPart(each, within);
    path.delete(each);
    return written;
  };
  return within(value);
}

function taggedPart(value: unknown, within: (part: unknown) => unknown): unknown {
  if (typeof value === "bigint") return { $bigint: String(value) };
  if (typeof value === "number") {
    const isPlain = Number.isFinite(value) && !Object.is(value, -0);
    return isPlain ? value : { $number: Object.is(value, -0) ? "-0" : String(value) };
  }
  if (value === undefined) return { $undefined: true };
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return { $date: dateText(value) };
  if (value instanceof Uint8Array) return { $bytes: hexText(value) };
  if (value instanceof WireU64) return { $u64: String(value.value) };
  if (Array.isArray(value)) return value.map(within);
  if (value instanceof Map) return { $map: Array.from(value, (entry) => entry.map(within)) };
  if (value instanceof Set) return { $set: Array.from(value, within) };
  if (isText(value) || !isPlain(value)) return { $text: valueText(value) };
  const entries = Object.entries(value).map(([name, each]) => [name, within(each)] as const);
  const plain = Object.fromEntries(entries);
  return isTag(plain) ? { $object: plain } : plain;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Returns the value that {@link tagged} was given. */
export function untagged(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(untagged);
  if (!isTag(value)) return untaggedEntries(value);
  const [[name, content] = ["", null]] = Object.entries(value);
  switch (name) {
    case "$bigint":
      return BigInt(String(content));
    case "$number":
      return Number(content);
    case "$undefined":
      return undefined;
    case "$date":
      return new Date(String(content));
    case "$bytes":
      return bytesIn(String(content));
    case "$u64":
      return new WireU64(BigInt(String(content)));
    case "$map":
      return new Map(
        listIn(content).map((entry) => listIn(entry).map(untagged) as [unknown, unknown]),
      );
    case "$set":
      return new Set(listIn(content).map(untagged));
    case "$text":
      throw new Error("A $text can only be shown.");
    case "$object":
      return untaggedEntries(content as object);
    default:
      return untaggedEntries(value);
  }
}

function untaggedEntries(value: object): unknown {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, untagged(each)]));
}

function listIn(content: unknown): unknown[] {
  if (!Array.isArray(content)) throw new Error("A $map and a $set need a list.");
  return content;
}

const tags = "$bigint $number $undefined $date $bytes $u64 $map $set $text $object".split(" ");

function isTag(value: object): boolean {
  const names = Object.keys(value);
  return names.length === 1 && tags.includes(names[0] ?? "");
}
