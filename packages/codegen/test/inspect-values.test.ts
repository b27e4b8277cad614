import { Buffer } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { decodeValue, encodeValue, KvU64 } from "@keywright/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ExportedEntry, entryLine, parseLine } from "../src/inspect/entries/entry-line.js";
import { readLines } from "../src/inspect/transfer/read-lines.js";

/** A value as a database gives it to its reader. */
const stored = (value: unknown) => decodeValue(encodeValue(value));

/** What is stored, after it has been a line of an export. */
const throughLine = (value: unknown) =>
  (parseLine(entryLine({ key: ["k"], value: stored(value) })) as ExportedEntry).value;

const bytes = (value: unknown) => Buffer.from(encodeValue(value)).toString("hex");

const buffer = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8).buffer;
const cycle: Record<string, unknown> = { a: 1 };
cycle.self = [cycle];
const shared = { b: 2 };
const extraProperty = Object.assign([1, 2], { more: true });

const everyKind: readonly (readonly [string, unknown])[] = [
  ["null", null],
  ["undefined", undefined],
  ["booleans", [true, false]],
  ["numbers", [0, -0, 0.1, Number.NaN, Infinity, -Infinity, 2 ** 53]],
  ["bigints", [0n, -1n, 2n ** 70n, -(2n ** 64n)]],
  ["texts", ["", "é", "\ufeffx", "\u2028\n\0", "1n", "b64:AQID"]],
  ["a lone surrogate", "\ud800"],
  ["dates", [new Date(0), new Date(8.64e15), new Date(-8.64e15)]],
  ["an invalid date", new Date(Number.NaN)],
  ["bytes", Uint8Array.of(0, 255)],
  ["a Map", new Map<unknown, unknown>([[{ a: 1 }, new Set([1n])]])],
  ["a Set", new Set([-0, "a", Number.NaN])],
  ["a RegExp", /a[\n/]+/giu],
  ["errors", [new TypeError("x", { cause: new RangeError("y") }), new Error("z")]],
  [
    "typed arrays",
    [new Float64Array([-0, Number.NaN]), new BigInt64Array([1n]), new DataView(buffer)],
  ],
  ["an ArrayBuffer", buffer],
  ["views of one buffer", [new Uint8Array(buffer), new Uint8Array(buffer, 2, 2)]],
  ["boxed primitives", [Object(1), Object("a"), Object(true), Object(1n)]],
  ["holes", [1, , undefined, ,]],
  ["an array with a property", extraProperty],
  ["a cycle", cycle],
  ["one object twice", [shared, shared]],
  ["a KvU64", new KvU64(2n ** 64n - 1n)],
  ["odd names", JSON.parse('{"__proto__": 1, "constructor": 2, "toJSON": 3, "2": 4, "1": 5}')],
  ["what looks like a word", [{ $: "1n" }, { $: { $: "1n" } }, { $: [] }, { $: 1, a: 2 }]],
  ["a value and its word", { $: new Date(0), value: 1n }],
  ["depth", Array.from({ length: 500 }).reduce((inner) => ({ inner }), null)],
];

describe("a value in an export", () => {
  it.each(everyKind)("%s", (_, value) => {
    const back = throughLine(value);
    expect(bytes(back)).toBe(bytes(stored(value)));
    // Node takes no invalid date for the same as another.
    const isComparable = isDeepStrictEqual(stored(value), stored(value));
    expect(isDeepStrictEqual(back, stored(value))).toBe(isComparable);
  });

  it("comes back as it was, whatever it is", () => {
    const leaf = fc.constantFrom<unknown[]>(undefined, -0, "\ud800", new Date(1), { $: 1n }, /a/);
    const anything = fc.anything({
      key: fc.oneof(fc.constantFrom("$", "__proto__", "toJSON"), fc.string()),
      values: [leaf, fc.string(), fc.double(), fc.bigInt(), fc.boolean(), fc.uint8Array()],
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        expect(bytes(throughLine(value))).toBe(bytes(stored(value)));
      }),
    );
  });

  it("can be read where JSON can say it", () => {
    const value = {
      name: "Ada",
      born: new Date(0),
      balance: 10n,
      key: Uint8Array.of(1),
      no: undefined,
    };
    expect(JSON.parse(entryLine({ key: ["users", 1n], value, expireAt: 5 }))).toEqual({
      key: ["users", { $: "1n" }],
      value: {
        name: "Ada",
        born: { $: "date:1970-01-01T00:00:00.000Z" },
        balance: { $: "10n" },
        key: { $: "b64:AQ==" },
        no: { $: "undefined" },
      },
      expireAt: 5,
    });
    expect(JSON.parse(entryLine({ key: ["n"], value: new KvU64(7n) })).value).toEqual({
      $: "u64:7",
    });
    expect(JSON.parse(entryLine({ key: ["m"], value: new Map() }))).toEqual({
      key: ["m"],
      encoded: Buffer.from(encodeValue(new Map())).toString("base64"),
    });
  });

  it.each([
    "nothing",
    "[]",
    '{"value":1}',
    '{"key":[],"value":1}',
    '{"key":"users","value":1}',
    '{"key":[null],"value":1}',
    '{"key":[{"$":"1"}],"value":1}',
    '{"key":["\\ud800"],"value":1}',
    '{"key":["a"]}',
    '{"key":["a"],"value":1,"encoded":"AA=="}',
    '{"key":["a"],"value":1,"more":1}',
    '{"key":["a"],"value":1,"expireAt":"tomorrow"}',
    '{"key":["a"],"value":{"$":"tomorrow"}}',
    '{"key":["a"],"value":{"$":"date:tomorrow"}}',
    '{"key":["a"],"value":{"$":"u64:-1"}}',
    '{"key":["a"],"value":{"$":1}}',
    '{"key":["a"],"encoded":"*"}',
    '{"key":["a"],"encoded":"/w=="}',
  ])("is refused as %s", (line) => {
    expect(() => parseLine(line)).toThrow();
  });
});

describe("the lines of a file", () => {
  async function linesOf(...chunks: readonly (string | Uint8Array)[]): Promise<unknown[]> {
    const lines: unknown[] = [];
    async function* all() {
      yield* chunks;
    }
    for await (const { text, number } of readLines(all())) lines.push([number, text]);
    return lines;
  }

  it("end at line feeds alone, wherever the chunks end", async () => {
    const text = "a\u2028b\r\n\nécd\r\ne";
    const expected = [
      [1, "a\u2028b"],
      [3, "écd"],
      [4, "e"],
    ];
    expect(await linesOf(text)).toEqual(expected);
    expect(await linesOf(...Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte)))).toEqual(
      expected,
    );
    expect(await linesOf()).toEqual([]);
  });

  it("are UTF-8", async () => {
    await expect(linesOf("a\n", Uint8Array.of(0xff))).rejects.toMatchObject({
      code: "KW_IMPORT_LINE",
      line: 2,
    });
  });
});
