import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareBytes } from "../src/bytes/compare-bytes.js";
import { encodeKey } from "../src/keys/encode-key.js";
import type { KvKey } from "../src/keys/key.js";
import { denoOrder, specificationOrder } from "../src/keys/key-order.js";
import {
  commonPrefix,
  type KeyRange,
  type KvListSelector,
  keyAfter,
  keyRange,
} from "../src/keys/key-range.js";
import { key, relatedKeys } from "./key-arbitrary.js";
import { compareParts, hasPartPrefix } from "./key-order.js";

function contains(range: KeyRange, key: KvKey): boolean {
  const bytes = encodeKey(key);
  return compareBytes(bytes, range.start) >= 0 && compareBytes(bytes, range.end) < 0;
}

function extendsPrefix(key: KvKey, prefix: KvKey): boolean {
  return key.length > prefix.length && hasPartPrefix(key, prefix);
}

describe("keyRange", () => {
  it("of a prefix has the keys that extend it, and no other", () => {
    fc.assert(
      fc.property(relatedKeys, ([prefix, other]) => {
        expect(contains(keyRange({ prefix }), other)).toBe(extendsPrefix(other, prefix));
      }),
      { numRuns: 3000 },
    );
  });

  it("of a prefix and a start or an end has those of them on one side of it", () => {
    const keys = fc.oneof(
      fc.tuple(relatedKeys, key).map(([[prefix, bound], other]) => ({ prefix, bound, other })),
      fc
        .tuple(key, key, key)
        .map(([prefix, a, b]) => ({ prefix, bound: [...prefix, ...a], other: [...prefix, ...b] })),
    );
    fc.assert(
      fc.property(keys, ({ prefix, bound, other }) => {
        fc.pre(extendsPrefix(bound, prefix));
        const isUnder = extendsPrefix(other, prefix);
        const isFrom = compareParts(other, bound) >= 0;
        expect(contains(keyRange({ prefix, start: bound }), other)).toBe(isUnder && isFrom);
        expect(contains(keyRange({ prefix, end: bound }), other)).toBe(isUnder && !isFrom);
      }),
      { numRuns: 3000 },
    );
  });

  it("of a start and an end has the keys from the one on and before the other", () => {
    fc.assert(
      fc.property(relatedKeys, key, ([a, b], other) => {
        const [start, end] = compareParts(a, b) <= 0 ? [a, b] : [b, a];
        const range = keyRange({ start, end });
        for (const each of [other, a, b, [...start, ...other]]) {
          // An entry's key has parts, and before the shortest one lies what is the database's own.
          const isWithin =
            each.length > 0 && compareParts(each, start) >= 0 && compareParts(each, end) < 0;
          expect(contains(range, each)).toBe(isWithin);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("never has a key of the database's own, which begins with a zero byte", () => {
    for (const order of [specificationOrder, denoOrder]) {
      const ranges = [
        keyRange({ prefix: [] }, order),
        keyRange({ prefix: [], end: [false] }, order),
        keyRange({ start: [], end: [false] }, order),
      ];
      for (const range of ranges) expect([...range.start]).toEqual([1]);
      const nothing = keyRange({ start: [], end: [] }, order);
      expect(compareBytes(nothing.start, nothing.end)).toBe(0);
      expect([...nothing.start]).toEqual([1]);
    }
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a string", "users"],
    ["an empty object", {}],
    ["a start alone", { start: ["a"] }],
    ["an end alone", { end: ["a"] }],
    ["a prefix with both a start and an end", { prefix: ["a"], start: ["a", 1], end: ["a", 2] }],
    ["a start after its end", { start: ["b"], end: ["a"] }],
    ["a start that equals the prefix", { prefix: ["a"], start: ["a"] }],
    ["an end that equals the prefix", { prefix: ["a"], end: ["a"] }],
    ["a start elsewhere", { prefix: ["a"], start: ["b", 1] }],
    ["an end elsewhere", { prefix: ["a"], end: ["b", 1] }],
    ["a start that is a shorter key", { prefix: ["a", 1], start: ["a"] }],
    ["a start whose part goes on where the prefix ends", { prefix: ["a"], start: ["a\0b"] }],
    ["an end whose part goes on where the prefix ends", { prefix: ["a"], end: ["a\0b"] }],
    [
      "an end whose bytes continue where the prefix ends",
      { prefix: [Uint8Array.of(1)], end: [Uint8Array.of(1, 0, 5)] },
    ],
  ])("refuses %s", (_name, selector) => {
    const range = () => keyRange(selector as KvListSelector);
    expect(range).toThrow(TypeError);
    expect(range).toThrow(expect.objectContaining({ code: "KW_SELECTOR_INVALID" }));
  });

  it.each<[string, unknown]>([
    ["a prefix", { prefix: [null] }],
    ["a prefix that is no array", { prefix: "a" }],
    ["a start", { prefix: [], start: [{}] }],
    ["an end", { start: [], end: ["\ud800"] }],
  ])("refuses %s that is no key", (_name, selector) => {
    expect(() => keyRange(selector as KvListSelector)).toThrow(
      expect.objectContaining({ code: "KW_KEY_INVALID" }),
    );
  });
});

describe("keyAfter", () => {
  it("is before every other key that comes after", () => {
    fc.assert(
      fc.property(relatedKeys, ([a, b]) => {
        const after = keyAfter(encodeKey(a));
        expect(compareBytes(encodeKey(a), after)).toBeLessThan(0);
        expect(compareBytes(after, encodeKey(b)) <= 0).toBe(compareParts(a, b) < 0);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("commonPrefix", () => {
  it("is what each key of the range begins with, and never all of one", () => {
    fc.assert(
      fc.property(relatedKeys, key, ([a, b], other) => {
        const [start, end] = compareParts(a, b) <= 0 ? [a, b] : [b, a];
        const range = keyRange({ start, end });
        const shared = commonPrefix(range);
        for (const each of [start, [...start, ...other]]) {
          if (each.length === 0 || !contains(range, each)) continue;
          const bytes = encodeKey(each);
          expect(bytes.length).toBeGreaterThan(shared.length);
          expect(compareBytes(bytes.subarray(0, shared.length), shared)).toBe(0);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("of a prefix selector is the prefix", () => {
    for (const prefix of [[], ["a"], ["a", 1n]]) {
      expect(commonPrefix(keyRange({ prefix }))).toEqual(encodeKey(prefix));
    }
  });
});
