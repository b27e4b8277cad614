import { Buffer } from "node:buffer";
import fc from "fast-check";
import { Packr } from "msgpackr";
import { describe, expect, it } from "vitest";
import { MalformedValueError, UnreadableValueError } from "../src/errors/core-errors.js";
import { decodeStoredValue } from "../src/kv/read/stored-entry.js";
import { decodeValue } from "../src/values/decode-value.js";
import { encodeValue } from "../src/values/encode-value.js";
import { KvU64 } from "../src/values/kv-u64.js";
import { goldenValues } from "./golden/values.mjs";

const packr = new Packr({ useRecords: false, variableMapSize: true });

/** The bytes of a graph that no encoder makes. */
function graph(value: unknown): Uint8Array {
  return Buffer.concat([Uint8Array.of(2), packr.pack(value)]);
}

const decode = (bytes: Uint8Array) => () => decodeValue(bytes);

describe("decodeValue refuses", () => {
  it.each<[string, Uint8Array]>([
    ["no bytes", new Uint8Array(0)],
    ["no bytes at the end of a buffer", new Uint8Array(8).subarray(8)],
    ["an unknown format", Uint8Array.of(0x00, 0xc0)],
    ["a later format", Uint8Array.of(0x04, 0xc0)],
    ["a format without a value", Uint8Array.of(0x01)],
    ["a graph without a value", Uint8Array.of(0x02)],
    ["two values", Uint8Array.of(0x01, 0xc0, 0xc0)],
    ["a string cut short", Uint8Array.of(0x01, 0xa5, 0x61)],
    ["a long string cut short", Uint8Array.of(0x01, 0xdb, 0xff, 0xff, 0xff, 0xff)],
    ["bytes cut short", Uint8Array.of(0x01, 0xc4, 0x05, 0x00)],
    ["an array cut short", Uint8Array.of(0x01, 0xdd, 0xff, 0xff, 0xff, 0xff)],
    ["an object cut short", Uint8Array.of(0x01, 0xdf, 0xff, 0xff, 0xff, 0xff)],
    ["an array of arrays of arrays", new Uint8Array(100_000).fill(0x91).fill(1, 0, 1)],
    ["a KvU64 of seven bytes", new Uint8Array(8).fill(3)],
    ["a KvU64 of nine bytes", new Uint8Array(10).fill(3)],
    ["a graph that is a number", graph(5)],
    ["a graph that is a text", graph("a")],
    ["a graph that is a map", graph({ 0: 1 })],
    ["an empty graph", graph([])],
    ["a node that is not there", graph([[1]])],
    ["node 0", graph([[0], ["object"]])],
    ["a node between nodes", graph([[1.5], ["object"], ["object"]])],
    ["a negative node", graph([[-1], ["object"]])],
    ["a node that is a number", graph([[1], 7])],
    ["a node that is a map", graph([[1], { 0: "map" }])],
    ["an unknown node", graph([[1], ["weakmap"]])],
    ["an unknown slot", graph([["undefined"]])],
    ["a hole as a value", graph([[]])],
    ["a hole in a dense array", graph([[1], ["array", []]])],
    ["an unknown error class", graph([[1], ["error", "Object", [], [], []]])],
    [
      "an error class of the language's prototype",
      graph([[1], ["error", "constructor", [], [], []]]),
    ],
    ["a buffer of text", graph([[1], ["buffer", "abc"]])],
    ["an unknown view", graph([[2], ["buffer", Buffer.of(1)], ["view", "toString", [1], 0, 1]])],
    [
      "a view beyond its buffer",
      graph([[2], ["buffer", Buffer.of(1)], ["view", "Uint8Array", [1], 0, 2]]),
    ],
    ["a view of no buffer", graph([[2], ["object"], ["view", "DataView", [1], 0, 0]])],
    ["a view of itself", graph([[1], ["view", "Uint8Array", [1], 0, 0]])],
    ["a box of itself", graph([[1], ["box", [1]]])],
    ["a bigint without digits", graph([["bigint", ""]])],
    ["a bigint of another base", graph([["bigint", "xyz"]])],
    ["an array of a length that is none", graph([[1], ["sparse", -1]])],
    ["an array of a length that is a text", graph([[1], ["sparse", "3"]])],
    ["half a UTF-16 unit", graph([["utf16", Buffer.of(1)]])],
  ])("%s", (_name, bytes) => {
    expect(decode(bytes)).toThrow(MalformedValueError);
    expect(decode(bytes)).toThrow(expect.objectContaining({ code: "KW_VALUE_MALFORMED" }));
    expect(decodeValue(encodeValue({ a: 1 }))).toEqual({ a: 1 });
  });

  it.each([
    ["unknown syntax", graph([[1], ["regexp", "(", ""]])],
    ["unknown flags", graph([[1], ["regexp", "a", "q"]])],
  ])("a RegExp with %s, which a newer runtime may have written", async (_name, bytes) => {
    const unreadable = { code: "KW_VALUE_UNREADABLE", cause: expect.any(SyntaxError) as unknown };
    expect(decode(bytes)).toThrow(expect.objectContaining(unreadable));
    const entry = { key: Uint8Array.of(1), value: bytes, versionstamp: "", expireAt: undefined };
    expect(() => decodeStoredValue(entry)).toThrow(expect.objectContaining(unreadable));
  });

  it("no memory for the places of a sparse array that have no element", () => {
    const long = ["sparse", 20_000_000, "7", "a"];
    const before = process.memoryUsage().rss;
    const arrays = decodeValue(graph([[1], ["array", [2], [3], [4]], long, long, long])) as [];
    expect(arrays).toHaveLength(3);
    for (const array of arrays as unknown[][])
      expect([array.length, array[7], Object.keys(array)]).toEqual([20_000_000, "a", ["7"]]);
    // With memory for all places, it would be 457 MiB.
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
  });

  it("each golden value cut short anywhere, or with a byte too many", () => {
    for (const value of Object.values(goldenValues(KvU64))) {
      const bytes = encodeValue(value);
      for (let end = 0; end < bytes.length; end++)
        expect(decode(bytes.subarray(0, end))).toThrow(MalformedValueError);
      expect(decode(Buffer.concat([bytes, Uint8Array.of(0)]))).toThrow(MalformedValueError);
    }
  });

  it("whatever else is no value, and throws nothing else", () => {
    const valid = fc.constantFrom(...Object.values(goldenValues(KvU64))).map(encodeValue);
    const bytes = fc.oneof(
      fc
        .tuple(fc.constantFrom(1, 2, 3), fc.uint8Array({ maxLength: 40 }))
        .map(([format, body]) => Uint8Array.of(format, ...body)),
      fc
        .tuple(valid, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }))
        .map(([bytes, changes]) => {
          const damaged = bytes.slice();
          for (const [at, byte] of changes) damaged[at % damaged.length] = byte;
          return damaged;
        }),
    );
    fc.assert(
      fc.property(bytes, (bytes) => {
        try {
          decodeValue(bytes);
        } catch (error) {
          if (!(error instanceof UnreadableValueError))
            expect(error).toBeInstanceOf(MalformedValueError);
        }
        expect(decodeValue(encodeValue({ a: ["b"] }))).toEqual({ a: ["b"] });
      }),
      { numRuns: 300 },
    );
  });
});
