import { Buffer } from "node:buffer";

/**
 * Returns the word for a value that JSON cannot represent. Words are written without quotes:
 *
 * | word | value |
 * | --- | --- |
 * | `1n` | a bigint |
 * | `b64:AQID` | a `Uint8Array`, in base64 with its padding |
 * | `NaN`, `-NaN`, `Infinity`, `-Infinity`, `-0` | these numbers |
 *
 * @returns undefined if JSON can represent the value, or if there is no word for it.
 */
export function wordOf(value: unknown): string | undefined {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return wordOfNumber(value);
  return value instanceof Uint8Array
    ? `${bytesMark}${Buffer.from(value.buffer, value.byteOffset, value.length).toString("base64")}`
    : undefined;
}

/** Parses a word of {@link wordOf}. Returns an empty list for other texts. */
export function valueOfWord(word: string): readonly [] | readonly [Uint8Array | bigint | number] {
  if (/^-?(?:0|[1-9][0-9]*)n$/.test(word)) {
    return word === "-0n" ? [] : [BigInt(word.slice(0, -1))];
  }
  if (word.startsWith(bytesMark)) return bytesOf(word.slice(bytesMark.length));
  const number = numbers.get(word);
  return number === undefined ? [] : [number];
}

const bytesMark = "b64:";

/** The NaN with the sign bit. In a key it differs from the other NaN. */
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

/** Decodes base64, and accepts only the one canonical text for the bytes. */
function bytesOf(base64: string): readonly [] | readonly [Uint8Array] {
  const bytes = Buffer.from(base64, "base64");
  // A copy, because small buffers share their memory.
  return bytes.toString("base64") === base64 ? [new Uint8Array(bytes)] : [];
}
