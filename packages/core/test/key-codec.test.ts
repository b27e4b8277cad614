import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MalformedKeyError } from "../src/errors/core-errors.js";
import { compareKeys } from "../src/keys/compare-keys.js";
import { decodeKey } from "../src/keys/decode-key.js";
import { encodeEntryKey, encodeKey } from "../src/keys/encode-key.js";
import type { KvKey, KvKeyPart } from "../src/keys/key.js";
import { hasSignBit, keepsSignOfNaN } from "./javascript-engine.js";
import { key, keyPart, relatedKeys } from "./key-arbitrary.js";
import { compareParts, hasPartPrefix } from "./key-order.js";

/** A part as the golden file has it: one property, named for the type. */
type GoldenPart =
  | { string: string }
  | { bytes: string }
  | { number: string }
  | { bigint: string }
  | { boolean: boolean };

interface GoldenKey {
  readonly name: string;
  readonly key: GoldenPart[];
  readonly bytes: string;
}

const goldenFile = JSON.parse(
  readFileSync(new URL("golden/keys.json", import.meta.url), "utf8"),
) as GoldenKey[];
/**
 * Without -NaN: V8 may drop its sign in an optimised function, and JavaScriptCore always does.
 */
const golden = goldenFile.filter(({ key }) => !key.some(isNegativeNaN));

/** Replaces -NaN by NaN in the text of key bytes, because a runtime may do so at any time. */
function withOneNaN(text: string): string {
  return text.replaceAll("0007ffffffffffff", "fff8000000000000");
}

function isNegativeNaN(part: GoldenPart): boolean {
  return "number" in part && part.number === "-NaN";
}

function goldenPart(part: GoldenPart): KvKeyPart {
  if ("string" in part) return part.string;
  if ("bytes" in part) return Uint8Array.from(Buffer.from(part.bytes, "hex"));
  if ("boolean" in part) return part.boolean;
  if ("bigint" in part) {
    const magnitude = BigInt(part.bigint.replace("-", ""));
    return part.bigint.startsWith("-") ? -magnitude : magnitude;
  }
  return Number(part.number);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** Equality that also tells -NaN from NaN, and a Buffer from a Uint8Array. */
function expectSameKey(actual: KvKey, expected: KvKey): void {
  expect(actual).toStrictEqual([...expected]);
  for (const [index, part] of actual.entries()) {
    if (typeof part === "number")
      expect(hasSignBit(part)).toBe(hasSignBit(expected[index] as number));
  }
}

describe("golden keys", () => {
  it.each(golden)("$name", ({ key: parts, bytes }) => {
    const expected = parts.map(goldenPart);
    expect(hex(encodeKey(expected))).toBe(bytes);
    expectSameKey(decodeKey(Uint8Array.from(Buffer.from(bytes, "hex"))), expected);
  });

  it.skipIf(!keepsSignOfNaN)("-NaN, where the engine keeps the sign of a NaN", () => {
    const { bytes } = goldenFile.find(
      ({ key: [part] }) => part !== undefined && isNegativeNaN(part),
    )!;
    const script = fileURLToPath(new URL("negative-nan.mjs", import.meta.url));
    const output = execFileSync(process.execPath, [script, bytes], { encoding: "utf8" });
    expect(JSON.parse(output)).toEqual([bytes, bytes]);
  });

  it("cover every part type and every size at which the encoding of a bigint changes", () => {
    const tags = new Set(
      golden.filter((vector) => vector.bytes !== "").map((vector) => vector.bytes.slice(0, 2)),
    );
    const every = ["01", "02", "0a", "26", "27"];
    for (let tag = 0x0b; tag <= 0x1d; tag++) every.push(tag.toString(16).padStart(2, "0"));
    expect([...tags].sort()).toEqual(every.sort());
  });
});

describe("encodeKey and decodeKey", () => {
  it("give back every key", () => {
    fc.assert(
      fc.property(key, (parts) => expectSameKey(decodeKey(encodeKey(parts)), parts)),
      { numRuns: 2000 },
    );
  });

  it("keep the order that the specification gives", () => {
    fc.assert(
      fc.property(relatedKeys, ([a, b]) => {
        const expected = compareParts(a, b);
        expect(Math.sign(Buffer.compare(encodeKey(a), encodeKey(b)))).toBe(expected);
        expect(Math.sign(compareKeys(a, b))).toBe(expected);
      }),
      { numRuns: 5000 },
    );
  });

  it("keep the order of each pair of golden keys", () => {
    const keys = golden.map((vector) => vector.key.map(goldenPart));
    for (const a of keys) {
      for (const b of keys) expect(Math.sign(compareKeys(a, b))).toBe(compareParts(a, b));
    }
  });

  it("give a prefix of the bytes to a prefix of the parts, and to nothing else", () => {
    fc.assert(
      fc.property(relatedKeys, ([prefix, parts]) => {
        const prefixBytes = encodeKey(prefix);
        const bytes = encodeKey(parts);
        const begins = Buffer.from(bytes.subarray(0, prefixBytes.length)).equals(prefixBytes);
        // No new part begins with the byte of the escape that continues a part after 00.
        const isExtension = begins && bytes[prefixBytes.length] !== 0xff;
        expect(isExtension).toBe(hasPartPrefix(parts, prefix));
      }),
      { numRuns: 5000 },
    );
  });

  it("share no memory with each other, nor with what was encoded before", () => {
    const part = Uint8Array.of(1, 2, 3);
    const first = encodeKey([part]);
    const copy = hex(first);
    encodeKey([Uint8Array.of(9, 9, 9, 9)]);
    part.fill(7);
    expect(hex(first)).toBe(copy);
    const decoded = decodeKey(first)[0] as Uint8Array;
    first.fill(0);
    expect([...decoded]).toEqual([1, 2, 3]);
  });

  it("grow with the key", () => {
    const long = [new Uint8Array(50_000), "é".repeat(20_000), "x".repeat(70_000)];
    expectSameKey(decodeKey(encodeKey(long)), long);
  });

  it("take bytes of every kind: a Buffer, a view of a larger buffer, another realm's", () => {
    const expected = encodeKey([Uint8Array.of(1, 0, 2)]);
    const view = Uint8Array.of(9, 1, 0, 2, 9).subarray(1, 4);
    const foreign = runInNewContext("Uint8Array.of(1, 0, 2)") as Uint8Array;
    for (const part of [Buffer.from([1, 0, 2]), view, foreign])
      expect(hex(encodeKey([part]))).toBe(hex(expected));
  });
});

describe("decodeKey", () => {
  it("accepts of any bytes only those that encodeKey writes", () => {
    const likelyByte = fc.oneof(
      fc.constantFrom(
        0,
        1,
        2,
        0x0a,
        0x0b,
        0x0c,
        0x13,
        0x14,
        0x15,
        0x1c,
        0x1d,
        0x26,
        0x27,
        0xfe,
        0xff,
      ),
      fc.nat(255),
    );
    const bytes = fc.oneof(
      fc.array(likelyByte, { maxLength: 24 }).map((list) => Uint8Array.from(list)),
      fc.tuple(key, fc.nat(), likelyByte).map(([parts, at, byte]) => {
        const damaged = encodeKey(parts);
        if (damaged.length > 0) damaged[at % damaged.length] = byte;
        return damaged;
      }),
      fc.tuple(key, fc.nat()).map(([parts, end]) => {
        const whole = encodeKey(parts);
        return whole.slice(0, end % (whole.length + 1));
      }),
    );
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(bytes, (input) => {
        let decoded: KvKeyPart[];
        try {
          decoded = decodeKey(input);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedKeyError);
          const { code, offset } = error as MalformedKeyError;
          expect(code).toBe("KW_KEY_MALFORMED");
          expect(offset).toBeGreaterThanOrEqual(0);
          expect(offset).toBeLessThanOrEqual(input.length);
          refused++;
          return;
        }
        expect(withOneNaN(hex(encodeKey(decoded)))).toBe(withOneNaN(hex(input)));
        accepted++;
      }),
      { numRuns: 1500 },
    );
    expect(accepted).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
  });

  it.each([
    ["an unknown tag", "03", 0],
    ["a tag between bigints and booleans", "25", 0],
    ["a tag after the booleans", "28", 0],
    ["bytes without an end", "0161", 1],
    ["a string without an end", "0261", 1],
    ["a string that ends in an escape", "026100ff", 1],
    ["a string that is not UTF-8", "02ff00", 1],
    ["a string with an overlong NUL", "02c08000", 1],
    ["a string with an encoded surrogate", "02eda08000", 1],
    ["a number cut short", "0a8000", 1],
    ["a NaN with a payload", "0afff8000000000001", 1],
    ["a signalling NaN", "0afff0000000000001", 1],
    ["a negative NaN with a payload", "0a0007fffffffffffe", 1],
    ["a bigint cut short", "1601", 1],
    ["a bigint with a leading zero", "160001", 1],
    ["a negative bigint with a leading zero", "12fffe", 1],
    ["a long bigint of a size that has a tag", "1d080102030405060708", 2],
    ["a long bigint with a leading zero", "1d09000000000000000001", 2],
    ["a long bigint without a length", "1d", 1],
    ["a bigint of 254 bytes with a two-byte length", `1dff00fe${"01".repeat(254)}`, 4],
    ["a bigint of 255 bytes with a one-byte length", `1dff${"01".repeat(255)}`, 4],
    ["a whole part and then half of one", "270261", 2],
  ])("refuses %s", (_name, bytes, offset) => {
    const decode = () => decodeKey(Uint8Array.from(Buffer.from(bytes, "hex")));
    expect(decode).toThrow(MalformedKeyError);
    expect(decode).toThrow(expect.objectContaining({ code: "KW_KEY_MALFORMED", offset }));
  });

  it("refuses every tag that no part has", () => {
    const tags = new Set([0x01, 0x02, 0x0a, 0x26, 0x27]);
    for (let tag = 0x0b; tag <= 0x1d; tag++) tags.add(tag);
    for (let tag = 0; tag < 256; tag++) {
      if (tags.has(tag)) continue;
      // What would do for a part of most types.
      const bytes = Uint8Array.of(tag, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0);
      expect(() => decodeKey(bytes)).toThrow(expect.objectContaining({ offset: 0 }));
      expect(() => decodeKey(bytes.subarray(0, 11))).toThrow(
        expect.objectContaining({ offset: 0 }),
      );
    }
  });

  it("leaves the bytes as they are, also a Buffer's", () => {
    const bytes = Buffer.from(encodeKey([-5n, -(1n << 80n), "a\0b"]));
    const before = bytes.toString("hex");
    decodeKey(bytes);
    expect(bytes.toString("hex")).toBe(before);
    expect(decodeKey(bytes)).toEqual([-5n, -(1n << 80n), "a\0b"]);
  });

  it("gives plain Uint8Arrays of their own", () => {
    const [part] = decodeKey(Buffer.from(encodeKey([Uint8Array.of(4, 5)])));
    expect(Object.getPrototypeOf(part)).toBe(Uint8Array.prototype);
    expect((part as Uint8Array).buffer.byteLength).toBe(2);
  });
});

describe("encodeKey refuses", () => {
  const sparse: unknown[] = ["a"];
  sparse[2] = "b";
  it.each<[string, unknown, number | undefined]>([
    ["undefined", undefined, undefined],
    ["null", null, undefined],
    ["a string", "users", undefined],
    ["an object", { 0: "users", length: 1 }, undefined],
    ["bytes", Uint8Array.of(1), undefined],
    ["a null part", ["a", null], 1],
    ["an undefined part", [undefined], 0],
    ["a hole", sparse, 1],
    ["a nested array", ["a", "b", ["c"]], 2],
    ["a Date", [new Date(0)], 0],
    ["a symbol", ["a", Symbol("b")], 1],
    ["a function", [() => "a"], 0],
    ["an ArrayBuffer", [new ArrayBuffer(1)], 0],
    ["a view that is not of bytes", [new Uint16Array(1)], 0],
    ["a DataView", [new DataView(new ArrayBuffer(1))], 0],
    ["a boxed string", [Object("a")], 0],
    ["an object without a prototype", [Object.create(null)], 0],
    ["an object whose class has no name", [{ constructor: { name: Symbol("x") } }], 0],
    ["a high surrogate alone", ["a\ud800"], 0],
    ["a low surrogate alone", ["a", "\udc00b"], 1],
    ["surrogates the wrong way round", ["\udc00\ud800"], 0],
    ["a bigint of 65536 bytes", [1n << (65_535n * 8n)], 0],
  ])("%s", (_name, parts, partIndex) => {
    const encode = () => encodeKey(parts as KvKey);
    expect(encode).toThrow(TypeError);
    expect(encode).toThrow(expect.objectContaining({ code: "KW_KEY_INVALID", partIndex }));
  });

  it.each<[unknown, string]>([
    [null, "part 0 is null"],
    [undefined, "part 0 is undefined"],
    [[1], "part 0 is an array"],
    [new Date(0), "part 0 is an object (Date)"],
    [Object.create(null), "part 0 is an object (no prototype)"],
    [() => 1, "part 0 is a function"],
    [Symbol("x"), "part 0 is a symbol"],
  ])("says what the part %o is", (part, reason) => {
    expect(() => encodeKey([part] as KvKey)).toThrow(reason);
  });

  it.each<[unknown, string]>([
    [null, "it is null"],
    [undefined, "it is undefined"],
    ["users", "it is a string"],
    [{ 0: "users" }, "it is an object (Object)"],
  ])("says what the key %o is", (key, reason) => {
    expect(() => encodeKey(key as KvKey)).toThrow(reason);
  });

  it("takes the longest bigint that there is", () => {
    const longest = (1n << (65_535n * 8n)) - 1n;
    for (const part of [longest, -longest]) expect(decodeKey(encodeKey([part]))).toEqual([part]);
  });

  it("is whole again after a refusal", () => {
    fc.assert(
      fc.property(keyPart, (part) => {
        expect(() => encodeKey([part, "\ud800"])).toThrow(TypeError);
        expectSameKey(decodeKey(encodeKey([part])), [part]);
      }),
      { numRuns: 200 },
    );
  });

  it("a key whose part is no part any more when it is asked again", () => {
    for (const later of [null, "longer", "", 1]) {
      const answers: unknown[] = ["abc", later, later];
      const changing = Object.defineProperty([], 0, { get: () => answers.shift() }) as KvKey;
      if (later === null) expect(() => encodeKey(changing)).toThrow(TypeError);
      else expect(decodeKey(encodeKey(changing))).toEqual([later]);
    }
  });

  it("an empty key where it is to be the key of an entry", () => {
    expect(() => encodeEntryKey([])).toThrow(
      expect.objectContaining({ code: "KW_KEY_INVALID", partIndex: undefined }),
    );
    expect(() => encodeEntryKey("" as unknown as KvKey)).toThrow(
      expect.objectContaining({ code: "KW_KEY_INVALID" }),
    );
    expect(encodeKey([])).toHaveLength(0);
  });
});

describe("the bytes of encodeKey", () => {
  it.each([0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff])(
    "are UTF-8 where the length of a code point changes: %i",
    (point) => {
      const text = String.fromCodePoint(point);
      for (const part of [text, `${text}a`, `a${text}`]) {
        const bytes = Buffer.from(encodeKey([part]));
        expect(bytes.subarray(1, -1)).toEqual(Buffer.from(part));
        expect(decodeKey(bytes)).toEqual([part]);
      }
    },
  );

  it("are the caller's own, and share no memory with those of other keys", () => {
    const [first, second] = [encodeKey(["users", 1]), encodeKey(["users", 2])];
    expect(first.buffer).not.toBe(second.buffer);
    expect(first.buffer.byteLength).toBe(first.length);
  });
});
