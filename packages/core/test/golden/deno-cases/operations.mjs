import { group } from "./case-list.mjs";
import { keyOfSize } from "./make-bytes.mjs";
import { keysOf } from "./read-list.mjs";

group("commitVersionstamp", {
  "gives a symbol": ({ kv }) => kv.commitVersionstamp(),
  set: ({ kv }) => kv.set(["a", kv.commitVersionstamp()], 1),
  "set, then listed": async ({ kv }) => {
    const { versionstamp } = await kv.set(["a", kv.commitVersionstamp()], 1);
    const [key] = await keysOf(kv.list({ prefix: ["a"] }));
    return [key, key[1] === versionstamp];
  },
  "set alone in its key": async ({ kv }) => {
    await kv.set([kv.commitVersionstamp()], 1);
    return await keysOf(kv.list({ prefix: [] }));
  },
  "set in the middle": ({ kv }) => kv.set(["a", kv.commitVersionstamp(), "b"], 1),
  "set twice": ({ kv }) => kv.set(["a", kv.commitVersionstamp(), kv.commitVersionstamp()], 1),
  "atomic set, built": ({ kv }) => kv.atomic().set(["a", kv.commitVersionstamp(), "b"], 1),
  "atomic set in the middle": ({ kv }) =>
    kv.atomic().set(["a", kv.commitVersionstamp(), "b"], 1).commit(),
  get: ({ kv }) => kv.get(["a", kv.commitVersionstamp()]),
  getMany: ({ kv }) => kv.getMany([["a", kv.commitVersionstamp()]]),
  delete: ({ kv }) => kv.delete(["a", kv.commitVersionstamp()]),
  check: ({ kv }) =>
    kv
      .atomic()
      .check({ key: ["a", kv.commitVersionstamp()], versionstamp: null })
      .commit(),
  sum: ({ kv }) => kv.atomic().sum(["a", kv.commitVersionstamp()], 1n).commit(),
  "mutate set": ({ kv }) =>
    kv
      .atomic()
      .mutate({ key: ["a", kv.commitVersionstamp()], type: "set", value: 1 })
      .commit()
      .then(async () => keysOf(kv.list({ prefix: ["a"] }))),
  "mutate delete": ({ kv }) =>
    kv
      .atomic()
      .mutate({ key: ["a", kv.commitVersionstamp()], type: "delete" })
      .commit(),
  list: ({ kv }) => kv.list({ prefix: ["a", kv.commitVersionstamp()] }).next(),
  watch: ({ kv }) => void kv.watch([["a", kv.commitVersionstamp()]]),
  "of a key with 2048 bytes": ({ kv }) => kv.set([...keyOfSize(2048), kv.commitVersionstamp()], 1),
  "of a key with 2049 bytes": ({ kv }) => kv.set([...keyOfSize(2049), kv.commitVersionstamp()], 1),
});

// Atomic operations as such

group("an atomic operation", {
  awaited: async ({ kv }) => await kv.atomic().set(["a"], 1),
  "with then": ({ kv }) => kv.atomic().then(),
  empty: ({ kv }) => kv.atomic().commit(),
  "committed twice": async ({ kv }) => {
    const atomic = kv.atomic().sum(["a"], 1n);
    await atomic.commit();
    await atomic.commit();
    return (await kv.get(["a"])).value;
  },
  "committed twice with a versionstamp": async ({ kv }) => {
    const atomic = kv.atomic().set(["a", kv.commitVersionstamp()], 1);
    await atomic.commit();
    await atomic.commit();
    return await keysOf(kv.list({ prefix: [] }));
  },
  "with a key that changed": async ({ kv }) => {
    const key = ["a"];
    const atomic = kv.atomic().set(key, 1);
    key[0] = "b";
    await atomic.commit();
    return await keysOf(kv.list({ prefix: [] }));
  },
  "in order": async ({ kv }) => {
    await kv.atomic().set(["a"], 1).delete(["a"]).set(["b"], 1).set(["b"], 2).commit();
    return [await kv.get(["a"]), await kv.get(["b"])];
  },
  "a wrong check before a wrong mutation": ({ kv }) =>
    kv
      .atomic()
      .set([null], 1)
      .check({ key: ["a"], versionstamp: "x" })
      .commit(),
  "an empty key and a wrong versionstamp": ({ kv }) =>
    kv
      .atomic()
      .set([], 1)
      .check({ key: ["a"], versionstamp: "x" })
      .commit(),
  "an empty key and too large a value": ({ kv }) =>
    kv.atomic().set(["a"], new Uint8Array(70_000)).delete([]).commit(),
  "too large a key and too large a value": ({ kv }) =>
    kv.atomic().set(["a"], new Uint8Array(70_000)).delete(keyOfSize(3000)).commit(),
});

group("wrong at once in an atomic operation", {
  "a versionstamp and an expiry": ({ kv }) =>
    kv
      .atomic()
      .set(["a"], 1, { expireIn: 9e15 })
      .check({ key: ["a"], versionstamp: "x" })
      .commit(),
  "an empty key and an expiry": ({ kv }) => kv.atomic().set([], 1, { expireIn: 9e15 }).commit(),
  "a set and a sum of one key": ({ kv }) => kv.atomic().set(["a"], 1).sum(["a"], 1n).commit(),
  "a check that fails and an operand": ({ kv }) =>
    kv
      .atomic()
      .mutate({ key: ["a"], type: "min", value: 1 })
      .check({ key: ["a"], versionstamp: "0".repeat(20) })
      .commit(),
  "a delay and a function": ({ kv }) => kv.enqueue(() => 1, { delay: -1 }),
  "a delay and a schedule": ({ kv }) => kv.enqueue(1, { delay: -1, backoffSchedule: null }),
  "a delay and keys": ({ kv }) => kv.enqueue(1, { delay: "1", keysIfUndelivered: 5 }),
  "keys and a schedule": ({ kv }) => kv.enqueue(1, { keysIfUndelivered: 5, backoffSchedule: 5 }),
});
