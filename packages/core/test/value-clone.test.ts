import { Buffer } from "node:buffer";
import { runInNewContext } from "node:vm";
import { KvU64 as DenoKvU64 } from "@deno/kv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeValue } from "../src/values/decode-value.js";
import { encodeValue } from "../src/values/encode-value.js";
import { KvU64 } from "../src/values/kv-u64.js";
import { anything, linked, row, views } from "./value-arbitrary.js";
import { valueDifference } from "./value-difference.js";

function copy(value: unknown): unknown {
  return decodeValue(encodeValue(value));
}

function expectClone(value: unknown): void {
  expect(valueDifference(copy(value), structuredClone(value))).toBeUndefined();
}

describe("a value comes back as structuredClone copies it", () => {
  it.each<[string, fc.Arbitrary<unknown>, number]>([
    ["rows", row, 1000],
    ["anything", anything, 3000],
    ["objects that refer to each other", linked, 3000],
    ["views on one buffer", views, 1000],
  ])("%s", (_name, values, numRuns) => {
    fc.assert(fc.property(values, expectClone), { numRuns });
  });

  const withExtra = Object.assign([1, 2], { note: "x", "-1": 0 });
  const holesAndExtra: unknown[] = [];
  holesAndExtra[1] = 1;
  Object.assign(holesAndExtra, { note: "as many keys as elements" });
  class Celsius extends Number {
    override valueOf(): number {
      return 0;
    }
  }
  class LateDate extends Date {
    override getTime(): number {
      return 0;
    }
  }
  class Pairs extends Map<string, number> {
    override *[Symbol.iterator](): MapIterator<[string, number]> {
      yield ["made up", 0];
    }
  }
  it.each<[string, unknown]>([
    ["undefined", undefined],
    ["-0", -0],
    ["an array of -0 and 0", [-0, 0]],
    ["holes and undefined", Object.assign(new Array(5), { 1: undefined, 3: 1 })],
    ["an array with further properties", withExtra],
    ["an array with a hole and one further property", holesAndExtra],
    ["an array that is nothing but length", new Array(1000)],
    ["a long string after a byte order mark", `\ufeff${"a".repeat(100)}`],
    ["a property named after a byte order mark", { [`\ufeff${"a".repeat(100)}`]: 1 }],
    ["a property named __proto__", JSON.parse('{"__proto__": {"a": 1}, "b": 2}')],
    ["a property named constructor", { constructor: "x" }],
    ["a property named toJSON", { toJSON: 1 }],
    ["integer keys", { 2: "b", 1: "a", x: "c", 4294967295: "d" }],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
    ["every number of keys that has a form of its own", [15, 16, 65_536].map(objectOfKeys)],
    [
      "every length of string that has a form of its own",
      [31, 32, 255, 256, 65_535, 65_536].map((n) => "x".repeat(n)),
    ],
    [
      "every length of array that has a form of its own",
      [15, 16, 65_536].map((n) => new Array(n).fill(0)),
    ],
    [
      "every length of bytes that has a form of its own",
      [255, 256, 65_536].map((n) => new Uint8Array(n)),
    ],
    ["an error with a cause", new RangeError("a", { cause: { deep: [new Error("b")] } })],
    ["an error without a message", new Error()],
    ["an error with a name of its own", Object.assign(new Error("a"), { name: "TypeError" })],
    ["an error of an unknown name", Object.assign(new Error("a"), { name: "MyError", extra: 1 })],
    ["an AggregateError", new AggregateError([new Error("a")], "b")],
    ["a subclass of Array", Object.assign(new (class extends Array<number> {})(), [1, 2])],
    ["a subclass of Date that answers otherwise", new LateDate(5)],
    ["a subclass of Number that answers otherwise", new Celsius(5)],
    ["a subclass of Map that iterates otherwise", new Pairs([["a", 1]])],
    ["a boxed -0", Object(-0)],
    ["a boxed bigint", Object(2n ** 70n)],
    ["a boxed string with a lone surrogate", Object("\ud800")],
    ["an array that has the prototype of objects", Object.setPrototypeOf([1, 2], Object.prototype)],
    ...[new Map([[1, 2]]), new Set([1]), new Date(5), Object(1), new Error("a")].map(
      (object): [string, unknown] => [
        `a ${object.constructor.name} that has the prototype of objects`,
        Object.setPrototypeOf(object, Object.prototype),
      ],
    ),
    ["a part of a Uint8Array", Uint8Array.of(1, 2, 3, 4).subarray(1, 3)],
    ["an empty Uint8Array", new Uint8Array(0)],
    ["an empty buffer", new ArrayBuffer(0)],
    [
      "dates at the ends of time",
      [new Date(8.64e15), new Date(-8.64e15), new Date(-1), new Date(1.5)],
    ],
    [
      "everything of another realm",
      runInNewContext(`({
      list: [1, , [2]], map: new Map([[{}, new Set([1])]]), date: new Date(5), bytes: Uint8Array.of(1, 2),
      floats: Float64Array.of(-0), view: new DataView(new ArrayBuffer(3)), buffer: new ArrayBuffer(2),
      pattern: /a/g, error: new RangeError("x"), boxed: Object(1n), bare: Object.create(null) })`),
    ],
  ])("%s", (_name, value) => expectClone(value));

  it("a Buffer, without the pool that its bytes lie in", () => {
    const buffer = Buffer.from("pooled");
    const copied = copy({ buffer, same: -0 }) as { buffer: Uint8Array };
    expect(Object.getPrototypeOf(copied.buffer)).toBe(Uint8Array.prototype);
    expect(Buffer.from(copied.buffer).toString()).toBe("pooled");
    expect(copied.buffer.buffer.byteLength).toBe(6);
    expect(valueDifference(copy(buffer), Uint8Array.from(buffer))).toBeUndefined();
  });

  it("the longest array, which takes structuredClone of JavaScriptCore half a minute", () => {
    const longest = new Array(2 ** 32 - 1);
    expect(valueDifference(copy(longest), longest)).toBeUndefined();
  });

  it.each([[undefined], [5]])("an error without a stack: %s", (stack) => {
    const error = Object.assign(new Error("a"), { stack });
    expect(copy(error)).toHaveProperty("stack", undefined);
    expect(Object.keys(copy(error) as Error)).toEqual([]);
  });

  it("the stack of an error, which a copy of the copy has too", () => {
    const error = new Error("a", { cause: new TypeError("b") });
    const copied = structuredClone(copy(error)) as Error;
    expect(copied.stack).toBe(error.stack);
    expect((copy(copied) as Error).stack).toBe(error.stack);
    expect((copy(error) as { cause: Error }).cause.stack).toBe((error.cause as Error).stack);
  });

  it("an error that is within its cause, which V8 cannot read again", () => {
    const error = new Error("a");
    error.cause = { error };
    const copied = copy(error) as Error & { cause: { error: Error } };
    expect(copied.cause.error).toBe(copied);
    expect(Object.getOwnPropertyDescriptor(copied, "cause")?.enumerable).toBe(false);
  });

  it("Buffers of one pool, without what else is in it", () => {
    const { buffer: pool } = new TextEncoder().encode("not theirs, one, two");
    const a = Buffer.from(pool, 12, 3);
    const b = Buffer.from(pool, 17, 3);
    const encoded = encodeValue([a, b]);
    expect(encoded.length).toBeLessThan(100);
    expect(copy([a, b])).toEqual([Uint8Array.from(a), Uint8Array.from(b)]);
  });

  it("objects within each other, deeper than any stack", () => {
    type Link = { next: Link | null };
    let list: Link | null = null;
    for (let i = 0; i < 200_000; i++) list = { next: list };
    let depth = 0;
    for (let at = copy(list) as Link | null; at !== null; at = at.next) depth++;
    expect(depth).toBe(200_000);
  });

  it("plain objects around the depth at which the format changes", () => {
    for (let depth = 60; depth <= 70; depth++) {
      let value: unknown = "core";
      for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { value };
      expectClone(value);
    }
  });

  it("objects that are met twice, among many", () => {
    for (const count of [2, 15, 16, 17, 18, 40]) {
      const many: object[] = Array.from({ length: count }, (_, index) => ({ index }));
      expectClone(many);
      expectClone([...many, many[count - 1], many[0]]);
    }
  });
});

describe("encodeValue", () => {
  it("asks each getter once", () => {
    const asked: string[] = [];
    const value = {
      get a() {
        asked.push("a");
        return asked.length;
      },
      nested: {
        get b() {
          asked.push("b");
          return asked.length;
        },
      },
    };
    expect(copy(value)).toEqual({ a: 1, nested: { b: 2 } });
    expect(asked).toEqual(["a", "b"]);
  });

  it("leaves out what a getter has deleted", () => {
    const make = () => ({
      get a() {
        delete (this as { b?: number }).b;
        return 1;
      },
      b: 2,
    });
    expect(valueDifference(copy(make()), structuredClone(make()))).toBeUndefined();
  });

  it("ends where an element is a getter that makes its array longer", () => {
    for (const first of [0, -0]) {
      const array: unknown[] = [first, first, 2];
      const get = () => array.push("more");
      Object.defineProperty(array, 1, { get, enumerable: true });
      expect((copy(array) as unknown[])[2]).toBe(2);
    }
  });

  it("passes on what a getter throws", () => {
    const error = new Error("no");
    const value = {
      get a() {
        throw error;
      },
    };
    expect(() => encodeValue(value)).toThrow(error);
    expect(copy({ a: [1] })).toEqual({ a: [1] });
  });

  it("encodes within a getter", () => {
    const value = {
      before: "x",
      get a() {
        return [...encodeValue({ inner: "y" })];
      },
      after: "z",
    };
    expect(copy(value)).toEqual({ before: "x", a: [...encodeValue({ inner: "y" })], after: "z" });
  });

  it("encodes within the getter of an element", () => {
    const array: unknown[] = ["x", undefined, "z"];
    const get = () => [...encodeValue({ inner: "y" })];
    Object.defineProperty(array, 1, { get, enumerable: true });
    expect(copy(array)).toEqual(["x", [...encodeValue({ inner: "y" })], "z"]);
  });

  it("leaves out what all objects have inherited", () => {
    const prototype = Object.prototype as Record<string, unknown>;
    let copied: unknown;
    prototype.inherited = 1;
    try {
      copied = copy({ a: 1 });
    } finally {
      delete prototype.inherited;
    }
    expect(copied).toStrictEqual({ a: 1 });
  });

  it("gives bytes that later values leave as they are", () => {
    const sizes = [1, 30, 1000, 1023, 1024, 1025, 5000, 9000, 70_000];
    const values = Array.from({ length: 300 }, (_, i) => `${i}`.repeat(sizes[i % sizes.length]!));
    const encoded = values.map((value) => encodeValue({ value }));
    expect(encoded.map((bytes) => decodeValue(bytes))).toEqual(values.map((value) => ({ value })));
  });

  it("keeps no large buffer, also after a refusal", () => {
    const large = "x".repeat(1_000_000);
    encodeValue(large);
    expect(encodeValue("a").buffer.byteLength).toBeLessThan(10_000);
    expect(() => encodeValue([large, () => 1])).toThrow(TypeError);
    expect(encodeValue("a").buffer.byteLength).toBeLessThan(10_000);
  });

  it("gives the same bytes for the same value", () => {
    fc.assert(
      fc.property(fc.oneof(anything, linked), (value) => {
        expect(Buffer.from(encodeValue(value)).equals(encodeValue(value))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a decoded value", () => {
  it("shares no memory with the stored bytes", () => {
    const value = { a: Uint8Array.of(1, 2, 3), b: [Uint8Array.of(4)] };
    for (const each of [value, { ...value, cycle: value }, value.a, value.a.buffer]) {
      const stored = encodeValue(each);
      // As a store may keep it: a stretch of something larger, and a Buffer.
      const larger = Buffer.alloc(stored.length + 16, 0xee);
      larger.set(stored, 8);
      for (const bytes of [stored, larger.subarray(8, 8 + stored.length)]) {
        const decoded = decodeValue(bytes);
        const before = valueDifference(decoded, structuredClone(each));
        bytes.fill(0xff);
        expect(before).toBeUndefined();
        expect(valueDifference(decoded, structuredClone(each))).toBeUndefined();
        bytes.set(stored);
        if (bytes === stored) bytes.set(encodeValue(each));
      }
    }
  });

  it("is a new one each time", () => {
    const stored = encodeValue({ list: [1], date: new Date(0) });
    const first = decodeValue(stored) as { list: number[] };
    first.list.push(2);
    expect(decodeValue(stored)).toEqual({ list: [1], date: new Date(0) });
  });
});

describe("KvU64", () => {
  it.each([0n, 1n, 2n ** 63n, 2n ** 64n - 1n])("%d comes back", (number) => {
    const back = copy(new KvU64(number));
    expect(back).toBeInstanceOf(KvU64);
    expect((back as KvU64).value).toBe(number);
  });

  it("is a bigint of 64 bits without a sign, and nothing else", () => {
    expect(() => new KvU64(1 as unknown as bigint)).toThrow(TypeError);
    expect(() => new KvU64(-1n)).toThrow(RangeError);
    expect(() => new KvU64(2n ** 64n)).toThrow(RangeError);
  });

  it("does not change, and reads as a bigint", () => {
    const u64 = new KvU64(7n);
    expect(() => Object.assign(u64, { value: 8n })).toThrow(TypeError);
    expect(u64.valueOf()).toBe(7n);
    expect(String(u64)).toBe("7");
    expect(Object.prototype.toString.call(u64)).toBe("[object Deno.KvU64]");
  });
});

function objectOfKeys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
}

describe("the KvU64 of another implementation", () => {
  it("is stored as one of ours, and refused within another value", () => {
    const theirs = new (class KvU64 {
      readonly value = 7n;
    })();
    expect(copy(theirs)).toEqual(new KvU64(7n));
    expect(copy(new DenoKvU64(9n))).toEqual(new KvU64(9n));
    expect(() => encodeValue({ a: theirs })).toThrow(
      expect.objectContaining({ code: "KW_VALUE_UNSUPPORTED", path: "value.a" }),
    );
    const negative = Object.assign(Object.create(Object.getPrototypeOf(theirs)), { value: -1n });
    expect(() => encodeValue(negative)).toThrow(RangeError);
  });
});
