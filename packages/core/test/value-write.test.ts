import { Buffer } from "node:buffer";
import fc from "fast-check";
import { Packr } from "msgpackr";
import { describe, expect, it } from "vitest";
import { decodeValue } from "../src/values/decode-value.js";
import { encodeValue } from "../src/values/encode-value.js";
import { isPlain } from "../src/values/is-plain.js";
import { writeAfter } from "../src/values/write-message-pack.js";
import { anything, row } from "./value-arbitrary.js";
import { valueDifference } from "./value-difference.js";

const packr = new Packr({ useRecords: false, variableMapSize: true, int64AsType: "bigint" });

function expectSameBytes(value: unknown): void {
  const written = writeAfter(1, value);
  if (written === undefined) return;
  expect(Buffer.from(written).toString("hex")).toBe(`01${packr.pack(value).toString("hex")}`);
}

const times = fc.oneof(
  fc.date({ noInvalidDate: true }),
  fc.nat(2 ** 33).map((seconds) => new Date(seconds * 1000)),
  fc.nat(999).map((milliseconds) => new Date(2 ** 32 * 1000 - 500 + milliseconds)),
  fc.nat(2000).map((milliseconds) => new Date(milliseconds - 1000)),
);
const sizes = [0, 1, 15, 16, 31, 32, 63, 64, 65, 85, 86, 255, 256, 3000, 20_000];
const texts = fc
  .tuple(fc.constantFrom(...sizes), fc.constantFrom("a", "é", "€", "😀"), fc.constantFrom("", "b"))
  .map(([size, character, end]) => character.repeat(size) + end);
const numbers = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.integer({ min: -300, max: 300 }),
  fc.integer({ min: -70_000, max: 70_000 }),
  fc.maxSafeInteger(),
);

describe("the writer of MessagePack", () => {
  it("writes the bytes that msgpackr writes", () => {
    const parts = fc.oneof(times, texts, numbers, fc.constantFrom(null, undefined, true, false));
    const lists = fc.oneof(
      parts,
      fc.array(parts, { maxLength: 40 }),
      fc.dictionary(fc.string(), parts, { maxKeys: 40 }),
      row,
      anything,
    );
    fc.assert(
      fc.property(lists, (value) => {
        if (isPlain(value)) expectSameBytes(value);
      }),
      { numRuns: 2000 },
    );
  });

  it("writes most rows itself", () => {
    const user = { id: "01", name: "Ädä", tags: ["a", { b: null }], at: new Date(1e12), age: 1.5 };
    expect(writeAfter(1, user)).toBeDefined();
    expectSameBytes(user);
  });

  it("leaves what it has written as it was", () => {
    const values = Array.from({ length: 3000 }, (_, i) => ({ i, text: "x".repeat(i) }));
    const encoded = values.map((value) => encodeValue(value));
    for (const [i, value] of values.entries())
      expect(valueDifference(decodeValue(encoded[i]!), value)).toBeUndefined();
  });
});
