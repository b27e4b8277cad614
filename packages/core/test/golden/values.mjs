import { Buffer } from "node:buffer";

/** The values whose bytes are in `values.json`, under the same names. */
export const goldenValues = (KvU64) => ({
  undefined: undefined,
  null: null,
  true: true,
  false: false,
  zero: 0,
  "minus zero": -0,
  one: 1,
  "minus one": -1,
  "a byte": 200,
  "two bytes": -300,
  "four bytes": 2 ** 31,
  "more than four bytes": 2 ** 32,
  "the largest safe integer": Number.MAX_SAFE_INTEGER,
  "a fraction": -42.5,
  "a tenth": 0.1,
  "the smallest number": 5e-324,
  infinity: Infinity,
  "minus infinity": -Infinity,
  NaN: Number.NaN,
  "bigint 0": 0n,
  "bigint 42": 42n,
  "bigint -1": -1n,
  "the largest bigint of 64 bits": 2n ** 63n - 1n,
  "the smallest bigint of 64 bits": -(2n ** 63n),
  "a bigint beyond 64 bits": 2n ** 63n,
  "a negative bigint beyond 64 bits": -(2n ** 64n) - 5n,
  "an empty string": "",
  "a string": "hello",
  "a string of 32 letters": "0123456789abcdefghijklmnopqrstuv",
  "a string of every width": "aé日😀\0",
  "a byte order mark": "\ufeffa",
  "a lone surrogate": "\ud83da",
  "an empty Uint8Array": new Uint8Array(0),
  "a Uint8Array": Uint8Array.of(1, 2, 255),
  "an empty array": [],
  "an array": [1, "a", null, undefined],
  "an array of -0": [-0],
  "an array with holes": sparse(4, { 1: "b" }),
  "an array with a further property": Object.assign([1], { note: "x" }),
  "nothing but length": sparse(5, {}),
  "an empty object": {},
  "an object": { a: 1, b: "two", c: [3] },
  "a row": {
    id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    name: "Ada",
    email: "ada@example.com",
    age: 36,
    balance: -5n,
    tags: ["a", "b"],
    address: { city: "London", zip: null },
    createdAt: new Date("2023-04-23T10:11:12.345Z"),
    avatar: Uint8Array.of(0xca, 0xfe),
    note: undefined,
  },
  "a property named __proto__": JSON.parse('{"a":1,"__proto__":{"b":2}}'),
  "a property named constructor": { constructor: 1 },
  "a property named toJSON": { toJSON: "x" },
  "a property with a lone surrogate": { "\udc00": 1 },
  "a whole second": new Date(1_700_000_000_000),
  milliseconds: new Date(1_700_000_000_123),
  "the beginning of the epoch": new Date(0),
  "before the epoch": new Date(-1),
  "the last date": new Date(8.64e15),
  "the first date": new Date(-8.64e15),
  "an invalid date": new Date(Number.NaN),
  "a Map": new Map([
    ["a", 1],
    [{ k: 1 }, new Map()],
  ]),
  "a Set": new Set([1, "a", -0, Number.NaN]),
  "a RegExp": /a+\/"b/giu,
  "an empty RegExp": /(?:)/,
  "an Error": error(new Error("broken"), "Error: broken\n    at somewhere"),
  "a TypeError with a cause": error(new TypeError("outer", { cause: { why: -0 } }), "stack"),
  "an Error without a message": error(new Error(), "Error"),
  "boxed values": [Object(1), Object(-0), Object("a"), Object(true), Object(1n)],
  "an ArrayBuffer": Uint8Array.of(1, 2, 3).buffer,
  "every class of view": [
    Int8Array.of(-1),
    Uint8ClampedArray.of(300),
    Int16Array.of(-2),
    Uint16Array.of(258),
    Int32Array.of(-3),
    Uint32Array.of(16_909_060),
    Float32Array.of(1.5),
    Float64Array.of(-0),
    BigInt64Array.of(-4n),
    BigUint64Array.of(5n),
    new DataView(Uint8Array.of(7, 8).buffer),
  ],
  "a part of a buffer": [new Uint16Array(Uint8Array.of(0, 0, 1, 2, 9, 9).buffer, 2, 1)],
  "views on one buffer": sharedViews(),
  "a buffer and a view of it": bufferAndView(),
  "a Buffer among others": [-0, Buffer.from([1, 2])],
  "a cycle": cycle(),
  "an array in itself": arrayInItself(),
  "a Map that is its own key": mapInItself(),
  "one object twice": twice({ a: 1 }),
  "one date twice": twice(new Date(5)),
  "KvU64 0": new KvU64(0n),
  "KvU64 42": new KvU64(42n),
  "the largest KvU64": new KvU64(2n ** 64n - 1n),
});

function sparse(length, elements) {
  return Object.assign(new Array(length), elements);
}

/** With a stack that does not depend on where this file lies. */
function error(error, stack) {
  error.stack = stack;
  return error;
}

function sharedViews() {
  const { buffer } = Uint8Array.of(1, 2, 3, 4);
  return { low: new Uint8Array(buffer, 0, 2), high: new Uint16Array(buffer, 2, 1) };
}

function bufferAndView() {
  const { buffer } = Uint8Array.of(1, 2, 3, 4);
  return [new Uint8Array(buffer, 1, 2), buffer];
}

function cycle() {
  const a = {};
  a.b = { a };
  return a;
}

function arrayInItself() {
  const array = [1];
  array.push(array, [array]);
  return array;
}

function mapInItself() {
  const map = new Map();
  return map.set(map, new Set([map]));
}

function twice(object) {
  return { first: object, second: object };
}
