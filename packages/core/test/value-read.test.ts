import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeValue, decodeValueIn } from "../src/values/decode-value.js";
import { encodeValue } from "../src/values/encode-value.js";
import { KvU64 } from "../src/values/kv-u64.js";
import { unpackAny } from "../src/values/message-pack/message-pack.js";
import { readMessagePack } from "../src/values/message-pack/read-message-pack.js";
import { goldenValues } from "./golden/values.mjs";
import { anything, linked, row } from "./value-arbitrary.js";
import { valueDifference } from "./value-difference.js";

/** Fails if the fast reader reads something else than the general one. It may refuse. */
function expectAgreement(bytes: Uint8Array): void {
  const read = readOrRefuse(bytes);
  if (read === undefined) return;
  expect(valueDifference(read.item, unpackAny(bytes, 1))).toBeUndefined();
}

function readOrRefuse(bytes: Uint8Array): { item: unknown } | undefined {
  try {
    return { item: readMessagePack(bytes, 1) };
  } catch {
    return undefined;
  }
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.split(" "), (byte) => Number.parseInt(byte, 16));
}

/** Items and parts of items: names, texts of several bytes, dates, and what no value has. */
const fragments = [
  "a1 61",
  "a2 62 63",
  "d9 02 62 63",
  "a3 e2 82 ac",
  "a2 c3 28",
  "a3 ef bb bf",
  "a3 ef bf bd",
  "a9 5f 5f 70 72 6f 74 6f 5f 5f",
  "d4 00 00",
  "d4 00 01",
  "d4 ff ff",
  "d6 ff 6a 00 00 00",
  "d6 00 6a 00 00 00",
  "d7 ff 00 00 00 04 6a 00 00 00",
  "d7 ff ff ff ff ff ff ff ff ff",
  "c7 0c ff 00 00 00 00 ff ff ff ff 00 00 00 00",
  "c7 0c ff 80 00 00 00 00 00 00 00 00 00 00 01",
  "c7 0c ff 00 00 00 00 01 00 00 00 00 00 00 00",
  "c7 04 ff 00 00 00 00",
  "cf 00 00 00 00 00 00 00 01",
  "d3 80 00 00 00 00 00 00 01",
  "ca 3f 80 00 00",
  "cb 80 00 00 00 00 00 00 00",
].map(hex);

const byteList = fc
  .array(
    fc.oneof(
      fc.constantFrom(...fragments),
      fc.uint8Array({ minLength: 1, maxLength: 4 }),
      fc.tuple(fc.integer({ min: 0x80, max: 0xff })).map((tag) => Uint8Array.from(tag)),
      fc
        .tuple(fc.constantFrom(0x81, 0x82, 0x92, 0xdc, 0xde), fc.nat(2))
        .map((pair) => Uint8Array.from(pair)),
    ),
    { maxLength: 8 },
  )
  .map((parts) => Buffer.concat([Uint8Array.of(1), ...parts]));

/** An encoded value in which up to three bytes differ. */
const damaged = fc
  .tuple(
    fc.oneof(row, anything, linked),
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
  )
  .map(([value, changes]) => {
    const bytes = encoded(value) ?? Uint8Array.of(1, 0xc0);
    for (const [at, byte] of changes) bytes[1 + (at % (bytes.length - 1))] = byte;
    return bytes;
  });

/** Undefined if the value cannot be stored. */
function encoded(value: unknown): Uint8Array | undefined {
  try {
    return Uint8Array.from(encodeValue(value));
  } catch {
    return undefined;
  }
}

describe("the reader of MessagePack", () => {
  it("reads all that encoding writes", () => {
    for (const value of Object.values(goldenValues(KvU64))) {
      const bytes = encodeValue(value);
      if (bytes[0] !== 3) expect(readOrRefuse(bytes)).toBeDefined();
    }
    fc.assert(
      fc.property(fc.oneof(row, anything, linked), (value) => {
        const bytes = encoded(value);
        if (bytes === undefined || bytes[0] === 3) return;
        // The text may have the character that decoders write in place of damaged ones.
        const hasReplacement = Buffer.from(bytes).includes("\ufffd");
        if (!hasReplacement) expect(readOrRefuse(bytes)).toBeDefined();
        expectAgreement(bytes);
      }),
      { numRuns: 1000 },
    );
  });

  it("reads what the general reader reads, also from bytes that are no value", () => {
    fc.assert(fc.property(fc.oneof(byteList, damaged), expectAgreement), { numRuns: 3000 });
  });

  it("reads dates of all times and numbers of all sizes as the general reader does", () => {
    const times = fc.oneof(
      fc.date({ noInvalidDate: true }),
      fc.nat(2 ** 35).map((n) => new Date(n)),
    );
    const numbers = fc.oneof(
      fc.integer(),
      fc.double(),
      fc.maxSafeInteger(),
      fc.bigInt({ max: 2n ** 63n - 1n, min: -(2n ** 63n) }),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(times, numbers)), (list) => {
        const bytes = encodeValue(list.filter((item) => !Object.is(item, -0)));
        expect(readOrRefuse(bytes)).toBeDefined();
        expectAgreement(bytes);
      }),
    );
  });

  it("knows the names of one object from those of another, in whatever order they come", () => {
    const objects = fc.array(
      fc.uniqueArray(fc.constantFrom("a", "ab", "b", "id", "ä", "x".repeat(70), "1"), {
        maxLength: 5,
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(objects, (lists) => {
        for (const [index, names] of lists.entries()) {
          const object = Object.fromEntries(names.map((name) => [name, { [name]: index }]));
          expect(valueDifference(decodeValue(encodeValue(object)), object)).toBeUndefined();
        }
      }),
    );
  });

  it("reads more different names than it remembers", () => {
    for (let i = 0; i < 10_000; i++) {
      const object = { [`a${i % 1700}`]: { [`b${i}`]: i }, [`c${i % 5}`]: { id: 1 } };
      expect(valueDifference(decodeValue(encodeValue(object)), object)).toBeUndefined();
    }
  });

  it("leaves the decision about a name that sets the prototype to the general reader", () => {
    const bytes = hex("01 81 a9 5f 5f 70 72 6f 74 6f 5f 5f 80");
    for (let i = 0; i < 3; i++) {
      expect(readOrRefuse(bytes)).toBeUndefined();
      const value = decodeValue(bytes) as object;
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
  });

  it("reads a name that occurs twice as the general reader does", () => {
    const bytes = hex("01 83 a1 61 01 a1 62 02 a1 61 03");
    expect(readOrRefuse(bytes)).toEqual({ item: { a: 3, b: 2 } });
    expectAgreement(bytes);
  });
});

describe("a value between other bytes", () => {
  const values = [
    { id: "01", name: "Zürich", tags: ["a", { b: "c" }], seen: new Date(1) },
    { text: "x".repeat(300), bytes: new Uint8Array(3), score: 1.5 },
    [new Map([["a", 1n]]), new Set([-0])],
    new KvU64(2n ** 64n - 1n),
    "é",
  ];

  it("is read as alone", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), fc.constantFrom(...values), (a, b, value) => {
        const encoded = encodeValue(value);
        const bytes = Uint8Array.of(...a, ...encoded, ...b);
        const end = a.length + encoded.length;
        expect(valueDifference(decodeValueIn(bytes, a.length, end), value)).toBeUndefined();
      }),
    );
  });

  it("does not continue after its end", () => {
    for (const value of values) {
      const encoded = encodeValue(value);
      const bytes = Uint8Array.of(9, ...encoded, ...encoded);
      for (let end = 1; end < encoded.length; end++)
        expect(() => decodeValueIn(bytes, 1, end)).toThrow(
          expect.objectContaining({ code: "KW_VALUE_MALFORMED" }),
        );
      expect(() => decodeValueIn(bytes, 1, encoded.length + 2)).toThrow(
        expect.objectContaining({ code: "KW_VALUE_MALFORMED" }),
      );
    }
  });
});

describe("wanted properties", () => {
  const user = {
    id: "01",
    born: new Date(1e12),
    seen: new Date(1),
    tags: ["a", { b: "c" }],
    address: { city: "Zürich", id: 3 },
    bytes: new Uint8Array(3),
    text: "é".repeat(100),
    score: 1.5,
    none: null,
    age: 40,
  };

  it("are read, in their order, and the others are left out", () => {
    fc.assert(
      fc.property(fc.subarray(Object.keys(user)), fc.nat(20), (names, more) => {
        const wanted = new Set([...names, "other"]);
        const fields = Array.from({ length: more }, (_, i) => [`field${i}`, i]);
        const object = { ...user, ...Object.fromEntries(fields) };
        const kept = Object.entries(object).filter(([name]) => wanted.has(name));
        const read = decodeValue(encodeValue(object), wanted);
        expect(valueDifference(read, Object.fromEntries(kept))).toBeUndefined();
      }),
    );
  });

  it("are those of the value itself, not of objects in it", () => {
    const read = decodeValue(encodeValue(user), new Set(["address"]));
    expect(read).toEqual({ address: user.address });
  });

  it("do not matter to values that are no plain objects", () => {
    for (const value of ["a", [1, { a: 1 }], new Map([["a", 1]]), { a: new Set([1]) }, -0]) {
      const read = decodeValue(encodeValue(value), new Set(["b"]));
      expect(valueDifference(read, value)).toBeUndefined();
    }
  });

  it("are not read from a value that is cut short", () => {
    const bytes = encodeValue(user);
    for (let end = 1; end < bytes.length; end++)
      expect(() => decodeValue(bytes.subarray(0, end), new Set(["id"]))).toThrow(
        expect.objectContaining({ code: "KW_VALUE_MALFORMED" }),
      );
  });
});
