import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import type { UnsupportedValueError } from "../src/errors/core-errors.js";
import { decodeValue } from "../src/values/decode-value.js";
import { encodeValue } from "../src/values/encode-value.js";
import { KvU64 } from "../src/values/kv-u64.js";

class User {
  name = "Ada";
}

const cryptoKey = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, [
  "sign",
]);

function detached(): ArrayBuffer {
  const buffer = new ArrayBuffer(8);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
}

function unsupported(value: unknown): UnsupportedValueError {
  try {
    encodeValue(value);
  } catch (error) {
    return error as UnsupportedValueError;
  }
  throw new Error("it was encoded");
}

const culprits: [string, () => unknown, RegExp][] = [
  ["a function", () => () => 1, /function/],
  ["a class", () => User, /function/],
  ["a symbol", () => Symbol("s"), /symbol/],
  ["a boxed symbol", () => Object(Symbol("s")), /symbol/],
  ["a class instance", () => new User(), /instance of User/],
  ["an instance of a class without a name", () => new (class {})(), /class instance/],
  ["an object that inherits from another", () => Object.create({ a: 1 }), /instance of Object/],
  [
    "an object that only looks like a Date",
    () => Object.create(Date.prototype),
    /instance of Date/,
  ],
  [
    "an object that only looks like bytes",
    () => Object.create(Uint8Array.prototype),
    /instance of/,
  ],
  [
    "an object that only looks like an array",
    () => Object.create(Array.prototype),
    /instance of Array/,
  ],
  [
    "a RegExp that has the prototype of objects",
    () => Object.setPrototypeOf(/a/g, Object.prototype),
    /prototype/,
  ],
  ["a WeakMap", () => new WeakMap(), /instance of WeakMap/],
  ["a WeakSet", () => new WeakSet(), /instance of WeakSet/],
  ["a WeakRef", () => new WeakRef({}), /instance of WeakRef/],
  ["a Promise", () => Promise.resolve(), /instance of Promise/],
  ["a Blob", () => new Blob(["a"]), /instance of Blob, whose bytes have to be read first/],
  ["a File", () => new File(["a"], "a.txt"), /, whose bytes have to be read first/],
  ["a key of the Web Crypto API", () => cryptoKey, /instance of CryptoKey/],
  ["a URL", () => new URL("https://example.com"), /instance of URL/],
  ["a generator", () => (function* () {})(), /class instance|instance of/],
  ["a Proxy", () => new Proxy({}, {}), /Proxy/],
  ["a Proxy of an array", () => new Proxy([], {}), /Proxy/],
  ["shared memory", () => new SharedArrayBuffer(1), /shared memory/],
  ["a view of shared memory", () => new Uint8Array(new SharedArrayBuffer(1)), /shared memory/],
  [
    "a wider view of shared memory",
    () => new Float64Array(new SharedArrayBuffer(8)),
    /shared memory/,
  ],
  ["a Buffer of shared memory", () => Buffer.from(new SharedArrayBuffer(1)), /shared memory/],
  ["a detached buffer", detached, /detached/],
  ["a view of a detached buffer", viewOfDetached, /detached/],
];

// Node.js 24 has it, and Node.js 20 could not read it.
const { Float16Array } = globalThis as { Float16Array?: typeof Float32Array };
if (Float16Array !== undefined)
  culprits.push(["a Float16Array", () => Float16Array.of(1), /instance of Float16Array/]);

function viewOfDetached(): unknown {
  const view = new Uint8Array(8);
  structuredClone(view, { transfer: [view.buffer] });
  return view;
}

describe("encodeValue refuses", () => {
  it.each(culprits)("%s, alone and inside", (_name, make, reason) => {
    const alone = unsupported(make());
    expect(alone).toBeInstanceOf(TypeError);
    expect(alone).toMatchObject({ code: "KW_VALUE_UNSUPPORTED", path: "value" });
    expect(alone.reason).toMatch(reason);
    expect(unsupported({ a: [1, make()] })).toMatchObject({
      path: "value.a[1]",
      reason: alone.reason,
    });
  });

  it("a KvU64 within something", () => {
    const u64 = new KvU64(1n);
    expect(unsupported({ count: u64 })).toMatchObject({
      path: "value.count",
      reason: expect.stringMatching(/KvU64/),
    });
    expect(unsupported([u64]).path).toBe("value[0]");
    expect(unsupported(new Map([[1, u64]])).path).toBe("value.get(1)");
  });

  const bad = () => 1;
  it.each<[unknown, string]>([
    [{ "not a name": bad }, 'value["not a name"]'],
    [{ "": bad }, 'value[""]'],
    [{ "1a": bad }, 'value["1a"]'],
    [{ élan: { $1: { _: bad } } }, "value.élan.$1._"],
    [[[], [[bad]]], "value[1][0][0]"],
    [Object.assign([1], { note: bad }), "value.note"],
    [Object.assign(new Array(3), { 1: bad }), "value[1]"],
    [
      new Map<unknown, unknown>([
        ["a", 1],
        ["b c", bad],
      ]),
      'value.get("b c")',
    ],
    [new Map([[5n, bad]]), "value.get(5n)"],
    [new Map([[null, bad]]), "value.get(null)"],
    [new Map([[Object.create(null), bad]]), "value.get(…)"],
    [new Map([[bad, 1]]), "value.keys()"],
    [new Map([[{ k: bad }, 1]]), "value.keys().k"],
    [new Set([1, [bad]]), "value.values()[0]"],
    [new Error("a", { cause: { why: bad } }), "value.cause.why"],
    [{ views: [new Float32Array(new SharedArrayBuffer(4))] }, "value.views[0]"],
  ])("%# with the path %2$s", (value, path) => {
    expect(unsupported(value).path).toBe(path);
  });

  it("the culprit at the end of a list that is deeper than any stack", () => {
    let list: unknown = { culprit: bad };
    for (let i = 0; i < 200_000; i++) list = { next: list };
    expect(unsupported(list).path).toBe(`value${".next".repeat(200_000)}.culprit`);
  });

  it("without a trace in the next value", () => {
    expect(() => encodeValue({ a: -0, b: bad })).toThrow(TypeError);
    expect(decodeValue(encodeValue({ a: -0 }))).toEqual({ a: -0 });
  });

  it("nothing that has a property of a symbol, which a structured clone leaves out", () => {
    const value = { a: 1, [Symbol("hidden")]: bad };
    expect(decodeValue(encodeValue(value))).toStrictEqual({ a: 1 });
  });

  it("nothing that has a hidden property, which a structured clone leaves out", () => {
    const value = Object.defineProperty({ a: 1 }, "hidden", { value: bad, enumerable: false });
    expect(decodeValue(encodeValue(value))).toStrictEqual({ a: 1 });
  });
});
