import { group } from "./case-list.mjs";
import { keyOfSize } from "./make-bytes.mjs";

for (const size of [2048, 2049, 2050]) {
  const key = keyOfSize(size);
  group(`a key of ${size} bytes`, {
    get: async ({ kv }) => void (await kv.get(key)),
    getMany: async ({ kv }) => void (await kv.getMany([key])),
    set: ({ kv }) => kv.set(key, 1),
    delete: ({ kv }) => kv.delete(key),
    check: ({ kv }) => kv.atomic().check({ key, versionstamp: null }).commit(),
    sum: ({ kv }) => kv.atomic().sum(key, 1n).commit(),
    watch: ({ kv }) => void kv.watch([key]).cancel(),
    "list by prefix": ({ kv }) => kv.list({ prefix: key }).next(),
    "list from start": ({ kv }) => kv.list({ start: key, end: [true] }).next(),
    "list to end": ({ kv }) => kv.list({ start: [], end: key }).next(),
    keysIfUndelivered: ({ kv }) => kv.enqueue(1, { keysIfUndelivered: [key] }),
  });
}

for (const size of [65536, 65537]) {
  group(`a value of ${size} bytes`, {
    set: ({ kv }) => kv.set(["a"], new Uint8Array(size)),
    "atomic set, built": ({ kv }) => kv.atomic().set(["a"], new Uint8Array(size)),
    "atomic set, committed": ({ kv }) => kv.atomic().set(["a"], new Uint8Array(size)).commit(),
    mutate: ({ kv }) =>
      kv
        .atomic()
        .mutate({ key: ["a"], type: "set", value: new Uint8Array(size) })
        .commit(),
  });
}

group("too large", {
  "a string": ({ kv }) => kv.set(["a"], "a".repeat(70_000)),
  "an object": ({ kv }) => kv.set(["a"], { text: "a".repeat(70_000) }),
  "a message": ({ kv }) => kv.enqueue("a".repeat(70_000)),
  "a message, atomic": ({ kv }) => kv.atomic().enqueue("a".repeat(70_000)).commit(),
});

/** An atomic operation to which `add(atomic, i)` was done `count` times. */
function repeated({ kv }, count, add) {
  const atomic = kv.atomic();
  for (let i = 0; i < count; i++) add(atomic, i);
  return atomic;
}

const addCheck = (atomic, i) => atomic.check({ key: ["a", i], versionstamp: null });
const addSet = (atomic, i) => atomic.set(["a", i], i);
const addDelete = (atomic, i) => atomic.delete(["a", i]);
const addEnqueue = (atomic, i) => atomic.enqueue(i, { delay: 100_000 });

group("how many", {
  "100 checks": (context) => repeated(context, 100, addCheck).commit(),
  "101 checks": (context) => repeated(context, 101, addCheck).commit(),
  "101 checks, built": (context) => repeated(context, 101, addCheck),
  "1000 sets": (context) => repeated(context, 1000, addSet).commit(),
  "1001 sets": (context) => repeated(context, 1001, addSet).commit(),
  "1001 deletes": (context) => repeated(context, 1001, addDelete).commit(),
  "1001 enqueues": (context) => repeated(context, 1001, addEnqueue).commit(),
  "1000 sets and an enqueue": (context) => repeated(context, 1000, addSet).enqueue(1).commit(),
  "101 checks and 1001 sets": (context) =>
    addMany(repeated(context, 101, addCheck), 1001, addSet).commit(),
  "101 checks with a wrong key": (context) =>
    repeated(context, 100, addCheck)
      .check({ key: [null], versionstamp: null })
      .commit(),
  "101 checks with an empty key": (context) =>
    repeated(context, 100, addCheck).check({ key: [], versionstamp: null }).commit(),
  "10 keys": async ({ kv }) => (await kv.getMany(Array(10).fill(["a"]))).length,
  "11 keys": ({ kv }) => kv.getMany(Array(11).fill(["a"])),
  "no key": ({ kv }) => kv.getMany([]),
  "11 keys, one wrong": ({ kv }) => kv.getMany([...Array(10).fill(["a"]), [null]]),
  "11 keys, one empty": ({ kv }) => kv.getMany([...Array(10).fill(["a"]), []]),
  "10 watched keys": ({ kv }) => void kv.watch(Array(10).fill(["a"])).cancel(),
  "11 watched keys": ({ kv }) => void kv.watch(Array(11).fill(["a"])),
  "no watched key": ({ kv }) => void kv.watch([]).cancel(),
  "batches of 1000": ({ kv }) => kv.list({ prefix: [] }, { batchSize: 1000 }).next(),
  "batches of 1001": ({ kv }) => kv.list({ prefix: [] }, { batchSize: 1001 }).next(),
  "batches of 1001, made": ({ kv }) => void kv.list({ prefix: [] }, { batchSize: 1001 }),
  "batches of 2 ** 32": ({ kv }) => kv.list({ prefix: [] }, { batchSize: 2 ** 32 }).next(),
  "limit 1001": ({ kv }) => kv.list({ prefix: [] }, { limit: 1001 }).next(),
  "limit 2 ** 40": ({ kv }) => kv.list({ prefix: [] }, { limit: 2 ** 40 }).next(),
});

function addMany(atomic, count, add) {
  for (let i = 0; i < count; i++) add(atomic, i);
  return atomic;
}

/** Sets of `[i]`, whose keys have 9 bytes, each counted twice beside its value. */
function setsOfBytes(context, count, size) {
  return repeated(context, count, (atomic, i) => atomic.set([i], new Uint8Array(size)));
}

group("in all", {
  "819200 bytes": (context) =>
    setsOfBytes(context, 12, 65536)
      .set([12], new Uint8Array(819200 - 12 * (65536 + 18) - 18))
      .commit(),
  "819201 bytes": (context) =>
    setsOfBytes(context, 12, 65536)
      .set([12], new Uint8Array(819201 - 12 * (65536 + 18) - 18))
      .commit(),
  "819200 bytes, with checks": (context) =>
    setsOfBytes(context, 12, 65536)
      .check({ key: [1], versionstamp: null })
      .set([12], new Uint8Array(819200 - 12 * (65536 + 18) - 18 - 9))
      .commit(),
  "819201 bytes, with checks": (context) =>
    setsOfBytes(context, 12, 65536)
      .check({ key: [1], versionstamp: null })
      .set([12], new Uint8Array(819201 - 12 * (65536 + 18) - 18 - 9))
      .commit(),
  "819201 bytes, with a sum": (context) =>
    setsOfBytes(context, 12, 65536)
      .sum([99], 1n)
      .set([12], new Uint8Array(819201 - 12 * (65536 + 18) - 18 - 18 - 8))
      .commit(),
  "819200 bytes, with a delete": (context) =>
    setsOfBytes(context, 12, 65536)
      .delete([99])
      .set([12], new Uint8Array(819200 - 12 * (65536 + 18) - 18 - 9))
      .commit(),
  "13 times 65536 bytes": (context) => setsOfBytes(context, 13, 65536).commit(),
  "40 keys of 2048 bytes": (context) =>
    repeated(context, 40, (atomic, i) => atomic.set([largeBytes(i, 2046)], bytes())).commit(),
  "40 keys of 2048 bytes and one more": (context) =>
    repeated(context, 40, (atomic, i) => atomic.set([largeBytes(i, 2046)], bytes()))
      .set(["a"], bytes())
      .commit(),
  "41 deletes of 2048 bytes": (context) =>
    repeated(context, 41, (atomic, i) => atomic.delete([largeBytes(i, 2046)])).commit(),
  "100 checks of 2048 bytes": (context) =>
    repeated(context, 100, (atomic, i) =>
      atomic.check({ key: [largeBytes(i, 2046)], versionstamp: null }),
    ).commit(),
  "13 large messages": (context) =>
    repeated(context, 13, (atomic) => atomic.enqueue("a".repeat(65_000), { delay: 9999 })).commit(),
});

function largeBytes(first, size) {
  const part = new Uint8Array(size).fill(1);
  part[0] = first + 1;
  return part;
}
