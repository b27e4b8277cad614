import { group } from "./case-list.mjs";
import { bytes } from "./make-bytes.mjs";

const versionstamps = {
  "a boxed string": Object("0".repeat(20)),
  "a symbol": Symbol("s"),
  "a function": () => 1,
  "an async function": async () => 1,
  "a generator function": function* () {},
  "an array": [],
  "a date": new Date(0),
  "a map": new Map(),
  "a set": new Set(),
  "a WeakMap": new WeakMap(),
  "a WeakSet": new WeakSet(),
  "a RegExp": /a/,
  "a promise": Promise.resolve(),
  "an error": new Error("a"),
  "an ArrayBuffer": new ArrayBuffer(1),
  "a SharedArrayBuffer": new SharedArrayBuffer(1),
  "a DataView": new DataView(new ArrayBuffer(1)),
  "a Float64Array": new Float64Array(1),
  "a BigUint64Array": new BigUint64Array(1),
  "a proxy": new Proxy([], {}),
  "a proxy of a typed array": new Proxy(new Uint8Array(1), {}),
  "a map iterator": new Map().keys(),
  "a set iterator": new Set().keys(),
  null: null,
  undefined: undefined,
  "of no digit": "",
  "of 19 digits": "0".repeat(19),
  "of 21 digits": "0".repeat(21),
  "of zeros": "0".repeat(20),
  "in capitals": "000000000000000A0000",
  "of other letters": "x".repeat(20),
  "of 10 wide letters": "é".repeat(10),
  "of an emoji": "\u{1F600}".repeat(5),
  "a number": 5,
  "a bigint": 5n,
  "an object": {},
  bytes: bytes(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
  true: true,
};

for (const [name, versionstamp] of Object.entries(versionstamps)) {
  group(`a versionstamp ${name}`, {
    built: ({ kv }) => kv.atomic().check({ key: ["a"], versionstamp }),
    "on a key that is absent": ({ kv }) =>
      kv
        .atomic()
        .check({ key: ["a"], versionstamp })
        .set(["a"], 1)
        .commit(),
    "on a key that is there": async ({ kv }) => {
      await kv.set(["a"], 1);
      return await kv
        .atomic()
        .check({ key: ["a"], versionstamp })
        .commit();
    },
  });
}

group("check", {
  "of nothing": ({ kv }) => kv.atomic().check(),
  "of null": ({ kv }) => kv.atomic().check(null),
  "of undefined": ({ kv }) => kv.atomic().check(undefined),
  "of an empty object, built": ({ kv }) => kv.atomic().check({}),
  "of an empty object": ({ kv }) => kv.atomic().check({}).commit(),
  "of no versionstamp": ({ kv }) =>
    kv
      .atomic()
      .check({ key: ["a"] })
      .commit(),
  "of an entry": async ({ kv }) => {
    await kv.set(["a"], 1);
    return await kv
      .atomic()
      .check(await kv.get(["a"]))
      .set(["a"], 2)
      .commit();
  },
  "of a versionstamp in capitals": async ({ kv }) => {
    for (let i = 0; i < 12; i++) await kv.set(["a"], i);
    const { versionstamp } = await kv.set(["a"], 1);
    return await kv
      .atomic()
      .check({ key: ["a"], versionstamp: versionstamp.toUpperCase() })
      .commit();
  },
  "of several": ({ kv }) =>
    kv
      .atomic()
      .check({ key: ["a"], versionstamp: null }, { key: ["b"], versionstamp: null })
      .commit(),
  "that fails, with too large a value": async ({ kv }) => {
    await kv.set(["a"], 1);
    return await kv
      .atomic()
      .check({ key: ["a"], versionstamp: null })
      .set(["b"], new Uint8Array(70_000))
      .commit();
  },
  "that fails, with a wrong sum": async ({ kv }) => {
    await kv.set(["a"], 1);
    return await kv
      .atomic()
      .check({ key: ["a"], versionstamp: null })
      .sum(["a"], 1n)
      .commit();
  },
});

// sum, min, max and mutate
