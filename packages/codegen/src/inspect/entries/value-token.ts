import { Buffer } from "node:buffer";

/**
 * What has no form in JSON and is written as a word without quotes:
 *
 * | word | value |
 * | --- | --- |
 * | `1n` | a bigint |
 * | `b64:AQID` | a `Uint8Array`, in base64 with its padding |
 * | `NaN`, `-NaN`, `Infinity`, `-Infinity`, `-0` | these numbers |
 *
 * The rest of {@link valueOfWord} stands for values only, which are not key parts.
 *
 * @returns undefined for what JSON has a form of, and what no word stands for.
 */
export function wordOf(value: unknown): string | undefined {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return wordOfNumber(value);
  return value instanceof Uint8Array
    ? `${bytesMark}${Buffer.from(value.buffer, value.byteOffset, value.length).toString("base64")}`
    : undefined;
}

/** @returns the value in a list, which is empty for a text that is no word of {@link wordOf}. */
export function valueOfWord(word: string): readonly [] | readonly [Uint8Array | bigint | number] {
  if (/^-?(?:0|[1-9][0-9]*)n$/.test(word)) {
    return word === "-0n" ? [] : [BigInt(word.slice(0, -1))];
  }
  if (word.startsWith(bytesMark)) return bytesOf(word.slice(bytesMark.length));
  const number = numbers.get(word);
  return number === undefined ? [] : [number];
}

const bytesMark = "b64:";

/** The NaN whose sign bit is set: a key with it is another key. */
const negativeNaN = new Float64Array(new BigUint64Array([0xfff8000000000000n]).buffer)[0]!;

const numbers: ReadonlyMap<string, number> = new Map([
  ["NaN", Number.NaN],
  ["-NaN", negativeNaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["-0", -0],
]);

function wordOfNumber(value: number): string | undefined {
  if (Number.isNaN(value)) return hasSignBit(value) ? "-NaN" : "NaN";
  if (Number.isFinite(value)) return Object.is(value, -0) ? "-0" : undefined;
  return String(value);
}

function hasSignBit(value: number): boolean {
  return new BigUint64Array(new Float64Array([value]).buffer)[0]! >> 63n === 1n;
}

/** Strict: bytes have one spelling. */
function bytesOf(base64: string): readonly [] | readonly [Uint8Array] {
  const bytes = Buffer.from(base64, "base64");
  // A copy, for the memory of small buffers is shared.
  return bytes.toString("base64") === base64 ? [new Uint8Array(bytes)] : [];
}
