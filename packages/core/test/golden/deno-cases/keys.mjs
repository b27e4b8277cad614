import { group } from "./case-list.mjs";
import { bytes } from "./make-bytes.mjs";
import { cursorsOf, keysOf } from "./read-list.mjs";

const badKeys = {
  "an empty key": [],
  "a null part": [null],
  "an undefined part": [undefined],
  "a date": [new Date(0)],
  "an object": [{}],
  "an array": [["a"]],
  "an empty array": [[]],
  "a symbol": [Symbol("s")],
  "a function": [() => 1],
  "an ArrayBuffer": [new ArrayBuffer(2)],
  "a Uint16Array": [new Uint16Array([1])],
  "a DataView": [new DataView(new ArrayBuffer(2))],
  "a boxed string": [Object("a")],
  "a map": [new Map()],
  "a wrong part behind a right one": ["a", null],
  "a hole": ["a", , "b"],
  "null for a key": null,
  "undefined for a key": undefined,
  "a string for a key": "abc",
  "an object for a key": {},
  "an array-like for a key": { length: 1, 0: "a" },
  "a number for a key": 5,
  "bytes for a key": bytes(97),
};

for (const [name, key] of Object.entries(badKeys)) {
  group(name, {
    get: ({ kv }) => kv.get(key),
    getMany: ({ kv }) => kv.getMany([key]),
    set: ({ kv }) => kv.set(key, 1),
    delete: ({ kv }) => kv.delete(key),
    "check, built": ({ kv }) => kv.atomic().check({ key, versionstamp: null }),
    "check, committed": ({ kv }) => kv.atomic().check({ key, versionstamp: null }).commit(),
    "set, built": ({ kv }) => kv.atomic().set(key, 1),
    "set, committed": ({ kv }) => kv.atomic().set(key, 1).commit(),
    "delete, committed": ({ kv }) => kv.atomic().delete(key).commit(),
    "sum, committed": ({ kv }) => kv.atomic().sum(key, 1n).commit(),
    "mutate, built": ({ kv }) => kv.atomic().mutate({ key, type: "delete" }),
    watch: ({ kv }) => void kv.watch([key]),
    "list by prefix": ({ kv }) => kv.list({ prefix: key }).next(),
    "list from start": ({ kv }) => kv.list({ start: key, end: ["z"] }).next(),
    "list to end": ({ kv }) => kv.list({ start: [], end: key }).next(),
    "list, made": ({ kv }) => void kv.list({ prefix: key }),
    keysIfUndelivered: ({ kv }) => kv.enqueue(1, { keysIfUndelivered: [key] }),
  });
}

const goodKeys = {
  "an empty string": [""],
  "empty bytes": [bytes()],
  "a Buffer-like subarray": [bytes(1, 2, 3).subarray(1)],
  "a zero byte in a string": ["a\0b"],
  "-0": [-0],
  NaN: [Number.NaN],
  "a large bigint": [2n ** 200n],
  "a negative large bigint": [-(2n ** 200n)],
  emoji: ["\u{1F600}"],
};

for (const [name, key] of Object.entries(goodKeys)) {
  group(name, {
    "set, then listed": async ({ kv }) => {
      await kv.set(key, 1);
      return await keysOf(kv.list({ prefix: [] }));
    },
  });
}

const mixedKeys = [
  [bytes()],
  [bytes(0)],
  [bytes(0, 1)],
  [bytes(255)],
  [""],
  ["a"],
  ["a", "a"],
  ["a", 1],
  ["a\0"],
  ["b"],
  ["\uffff"],
  ["\u{1F600}"],
  [Number.NEGATIVE_INFINITY],
  [-1.5],
  [-0],
  [0],
  [1],
  [2],
  [Number.POSITIVE_INFINITY],
  [Number.NaN],
  [-(2n ** 64n)],
  [-(2n ** 64n) + 1n],
  [-256n],
  [-255n],
  [-1n],
  [0n],
  [1n],
  [255n],
  [256n],
  [2n ** 64n - 1n],
  [2n ** 64n],
  [2n ** 900n],
  [false],
  [true],
  [true, false],
];

async function setMixed({ kv }) {
  const atomic = kv.atomic();
  for (const key of mixedKeys.toReversed()) atomic.set(key, 0);
  await atomic.commit();
}

group(
  "keys of all types",
  {
    "in order": ({ kv }) => keysOf(kv.list({ prefix: [] })),
    "in reverse order": ({ kv }) => keysOf(kv.list({ prefix: [] }, { reverse: true })),
    "under a prefix": ({ kv }) => keysOf(kv.list({ prefix: ["a"] })),
    "from a bigint to a number": ({ kv }) => keysOf(kv.list({ start: [0n], end: [0] })),
    "in batches of 3": ({ kv }) => keysOf(kv.list({ prefix: [] }, { batchSize: 3 })),
    "cursors of all": ({ kv }) => cursorsOf(kv.list({ prefix: [] })),
    "cursors between bounds": ({ kv }) => cursorsOf(kv.list({ start: [""], end: [true] })),
  },
  setMixed,
);

const longBigints = {
  "of 255 bytes": 2n ** 2039n,
  "of 256 bytes": 2n ** 2040n,
  "of -256 bytes": -(2n ** 2040n),
};

for (const [name, part] of Object.entries(longBigints)) {
  const key = [part];
  group(`a bigint ${name}`, {
    get: async ({ kv }) => void (await kv.get(key)),
    set: ({ kv }) => kv.set(key, 1),
    check: ({ kv }) => kv.atomic().check({ key, versionstamp: null }).commit(),
    delete: ({ kv }) => kv.delete(key),
    list: ({ kv }) => keysOf(kv.list({ prefix: key })),
    watch: ({ kv }) => void kv.watch([key]).cancel(),
    keysIfUndelivered: ({ kv }) => kv.enqueue(1, { keysIfUndelivered: [key] }),
  });
}

const loneSurrogate = ["\ud800"];

group("a lone surrogate", {
  get: ({ kv }) => kv.get(loneSurrogate),
  set: ({ kv }) => kv.set(loneSurrogate, 1),
});

group("a view of memory", {
  "set, then listed": async ({ kv }) => {
    await kv.set([new Uint16Array([0x0101, 0x0202])], 1);
    return await keysOf(kv.list({ prefix: [] }));
  },
});
