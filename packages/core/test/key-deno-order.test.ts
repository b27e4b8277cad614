import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MalformedKeyError } from "../src/errors/core-errors.js";
import { decodeKey } from "../src/keys/decode-key.js";
import { appendVersionstampPart, encodeEntryKey, encodeKey } from "../src/keys/encode-key.js";
import type { KvKeyPart } from "../src/keys/key.js";
import { denoOrder, specificationOrder } from "../src/keys/key-order.js";
import { keyRange } from "../src/keys/key-range.js";
import { key, relatedKeys } from "./key-arbitrary.js";
import { compareParts } from "./key-order.js";

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** Keys without bigints of more than 255 bytes, which Deno refuses. */
function isDenoKey(parts: readonly KvKeyPart[]): boolean {
  const limit = 2n ** 2040n;
  return parts.every((part) => typeof part !== "bigint" || (part > -limit && part < limit));
}

describe("keys in the order of Deno", () => {
  // From cursors of Deno 2.9.6 for a list of the empty prefix, which are the whole key in base64.
  it.each<[string, KvKeyPart[], string]>([
    ["0", [0], "IYAAAAAAAAAA"],
    ["-0", [-0], "IX__________"],
    ["NaN", [Number.NaN], "If_4AAAAAAAA"],
    ["1.5", [1.5], "Ib_4AAAAAAAA"],
    ["-1.5", [-1.5], "IUAH________"],
    ["Infinity", [Infinity], "If_wAAAAAAAA"],
    ["-Infinity", [-Infinity], "IQAP________"],
    ["a bigint of 8 bytes", [2n ** 63n + 5n], "HIAAAAAAAAAF"],
    ["a negative bigint of 8 bytes", [-(2n ** 63n) - 5n], "DH_________6"],
    ["a bigint of 9 bytes", [2n ** 71n + 5n], "HQmAAAAAAAAAAAU="],
    ["a negative bigint of 9 bytes", [-(2n ** 71n) - 5n], "C_Z___________o="],
    [
      "one part of each type",
      ["a\0b", Uint8Array.of(0, 1, 255), 7, -7n, true, false, 0n],
      "AmEA_2IAAQD_Af8AIcAcAAAAAAAAE_gnJhQ=",
    ],
  ])("have its bytes: %s", (_name, parts, cursor) => {
    const bytes = encodeKey(parts, denoOrder);
    expect(hex(bytes)).toBe(Buffer.from(cursor, "base64url").toString("hex"));
    expect(decodeKey(bytes, denoOrder)).toStrictEqual(parts);
  });

  it.each<[string, bigint, string]>([
    ["254", 2n ** 2031n + 5n, `1dfe80${"00".repeat(252)}05`],
    ["255", 2n ** 2039n + 5n, `1dff80${"00".repeat(253)}05`],
    ["minus 255", -(2n ** 2039n) - 5n, `0b007f${"ff".repeat(253)}fa`],
  ])("have a length of one byte for a bigint of %s bytes", (_name, value, expected) => {
    expect(hex(encodeKey([value], denoOrder))).toBe(expected);
    expect(decodeKey(Buffer.from(expected, "hex"), denoOrder)).toEqual([value]);
  });

  it.each([2n ** 2040n, -(2n ** 2040n)])(
    "have no bigint of 256 bytes, as in Deno (%#)",
    (value) => {
      const encode = () => encodeEntryKey(["a", value], denoOrder);
      expect(encode).toThrow(expect.objectContaining({ code: "KW_KEY_INVALID", partIndex: 1 }));
      expect(() => encodeEntryKey(["a", value], specificationOrder)).not.toThrow();
    },
  );

  it("come back, and sort as those of the specification but with bigints before numbers", () => {
    fc.assert(
      fc.property(relatedKeys, ([a, b]) => {
        fc.pre(isDenoKey(a) && isDenoKey(b));
        const order = Buffer.compare(encodeKey(a, denoOrder), encodeKey(b, denoOrder));
        expect(Math.sign(order)).toBe(compareParts(a, b, "bigint before number"));
        expect(decodeKey(encodeKey(a, denoOrder), denoOrder)).toStrictEqual(a);
      }),
      { numRuns: 5000 },
    );
  });

  it("have one encoding, and an encoding one key", () => {
    const bytes = fc.tuple(key, fc.nat(), fc.constantFrom(0, 0x0a, 0x0b, 0x14, 0x1d, 0x21, 0xff));
    let accepted = 0;
    fc.assert(
      fc.property(bytes, ([parts, at, byte]) => {
        fc.pre(isDenoKey(parts) && parts.length > 0);
        const damaged = encodeKey(parts, denoOrder);
        damaged[at % damaged.length] = byte;
        let decoded: KvKeyPart[];
        try {
          decoded = decodeKey(damaged, denoOrder);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedKeyError);
          return;
        }
        expect(hex(encodeKey(decoded, denoOrder))).toBe(hex(damaged));
        accepted++;
      }),
      { numRuns: 1500 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it("have a tag for numbers that the other order has not", () => {
    const number = encodeKey([1.5], specificationOrder);
    const denoNumber = encodeKey([1.5], denoOrder);
    expect(hex(number.subarray(1))).toBe(hex(denoNumber.subarray(1)));
    expect(() => decodeKey(number, denoOrder)).toThrow(MalformedKeyError);
    expect(() => decodeKey(denoNumber, specificationOrder)).toThrow(MalformedKeyError);
    const bigint = encodeKey([2n ** 2039n], denoOrder);
    expect(() => decodeKey(bigint, specificationOrder)).toThrow(MalformedKeyError);
  });

  it("bound a range", () => {
    const range = keyRange({ prefix: ["a", 1], end: ["a", 1, 2] }, denoOrder);
    expect(hex(range.start)).toBe(`${hex(encodeKey(["a", 1], denoOrder))}00`);
    expect(hex(range.end)).toBe(hex(encodeKey(["a", 1, 2], denoOrder)));
    const between = keyRange({ start: [2n], end: [1] }, denoOrder);
    expect(hex(between.end)).toBe(hex(encodeKey([1], denoOrder)));
  });
});

describe("appendVersionstampPart", () => {
  it("gives the key that has the versionstamp as its last part", () => {
    fc.assert(
      fc.property(key, fc.uint8Array({ minLength: 10, maxLength: 10 }), (parts, stamp) => {
        const versionstamp = hex(stamp);
        const bytes = encodeKey(parts);
        const before = hex(bytes);
        const longer = appendVersionstampPart(bytes, versionstamp);
        expect(hex(longer)).toBe(hex(encodeKey([...parts, versionstamp])));
        expect(hex(bytes)).toBe(before);
      }),
    );
  });
});
