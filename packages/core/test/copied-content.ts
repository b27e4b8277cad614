import { Buffer } from "node:buffer";
import { bytesToHex } from "../src/bytes/hex.js";
import { encodeKey } from "../src/keys/encode-key.js";
import type { KvKey, KvKeyPart } from "../src/keys/key.js";
import type { Kv, KvEntry } from "../src/kv/kv.js";
import { bigintOfU64, KvU64 } from "../src/values/kv-u64.js";
import { valueDifference } from "./value-difference.js";

export const progressKey: KvKey = ["__keywright", "copy"];

/** Keys with parts of every type, and at the edges of their order. */
export const everyKey: readonly KvKey[] = [
  [new Uint8Array()],
  [new Uint8Array([0, 255, 1])],
  [new Uint8Array(300).fill(255)],
  [""],
  ["\0"],
  ["a"],
  ["a", "b"],
  ["a", new Uint8Array([1]), 2, 3n, true],
  ["a\0b"],
  ["é\u{10000}"],
  [Number.NEGATIVE_INFINITY],
  [-1.5],
  [-0],
  [0],
  [0, 0n],
  [42],
  [Number.POSITIVE_INFINITY],
  [Number.NaN],
  [-(1n << 64n)],
  [-1n],
  [0n],
  [1n],
  [1n << 2000n],
  [false],
  [false, true],
  [true],
  [true, true, true],
  Array<KvKeyPart>(2048).fill(true),
];

/** Values of every kind. */
function everyValue(): unknown[] {
  const circular: { name: string; self?: unknown } = { name: "circular" };
  circular.self = circular;
  const shared = { a: 1 };
  return [
    undefined,
    null,
    true,
    false,
    0,
    -0,
    -42.5,
    Number.NaN,
    1n << 100n,
    "",
    "é\u{1f600} and more",
    new Uint8Array([0, 255]),
    new Float64Array([1.5, -0]),
    new ArrayBuffer(3),
    [1, , 3],
    { a: { b: [1, "two", 3n] }, constructor: "no function", value: 1n },
    { value: 7n },
    new Map<unknown, unknown>([["a", new Set([1, 2n])]]),
    new Date("2023-04-23"),
    /abc/gi,
    circular,
    [shared, shared],
    new KvU64(0n),
    new KvU64((1n << 64n) - 1n),
    "x".repeat(50_000),
    new Uint8Array(60_000).fill(7),
  ];
}

/** Fills a database with every kind of key and of value; resolves to the number of entries. */
export async function fillWithEverything(kv: Kv, keys = everyKey): Promise<number> {
  const values = everyValue();
  for (const [index, key] of keys.entries()) await kv.set(key, values[index % values.length]);
  for (const [index, value] of values.entries()) await kv.set(["value", index], value);
  return keys.length + values.length;
}

export async function entriesOf(kv: Kv): Promise<KvEntry<unknown>[]> {
  const entries: KvEntry<unknown>[] = [];
  for await (const entry of kv.list({ prefix: [] })) entries.push(entry);
  return entries;
}

/**
 * Returns the first difference between the contents of two databases, in any order, or undefined if
 * they are the same.
 */
export async function contentDifference(actual: Kv, expected: Kv): Promise<string | undefined> {
  const contents = await Promise.all([content(actual), content(expected)]);
  return valueDifference(contents[0], contents[1]);
}

async function content(kv: Kv): Promise<[string, unknown][]> {
  const entries = await entriesOf(kv);
  const pairs = entries.map(({ key, value }): [string, unknown] => [
    bytesToHex(encodeKey(key)),
    comparable(value),
  ]);
  return pairs.sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Returns a value without the classes of an implementation: its class of numbers, and Buffer.
 */
function comparable(value: unknown): unknown {
  const number = bigintOfU64(value);
  if (number !== undefined) return { type: "u64", number };
  return Buffer.isBuffer(value) ? new Uint8Array(value) : value;
}
