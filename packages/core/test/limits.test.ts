import { describe, expect, it } from "vitest";
import type { AtomicOperation } from "../src/kv/atomic-operation.js";
import type { KvLimits } from "../src/kv/limits.js";
import { openKv } from "../src/kv/open-kv.js";

/** A limit, and two calls: one that stays within it and one that does not, by how much. */
type LimitCase = [
  limit: keyof KvLimits,
  max: number,
  within: string,
  beyond: string,
  actual: number,
];

const operations: Record<string, (kv: Awaited<ReturnType<typeof openKv>>) => unknown> = {
  "a key of 5 bytes": (kv) => kv.set(["abc"], 1),
  "a key of 6 bytes": (kv) => kv.set(["abcd"], 1),
  "a read of a key of 6 bytes": (kv) => kv.get(["abcd"]),
  "a key of 5 bytes with a versionstamp": (kv) => kv.set(["abc", kv.commitVersionstamp()], 1),
  "a key of 27 bytes for an undelivered message": (kv) =>
    kv.enqueue(1, { keysIfUndelivered: [["abcdefghijklmnopqrstuvwxy"]] }),
  "a value of 4 bytes": (kv) => kv.set(["a"], "xy"),
  "a value of 5 bytes": (kv) => kv.set(["a"], "xyz"),
  "2 keys": (kv) => kv.getMany([["a"], ["b"]]),
  "3 keys": (kv) => kv.getMany([["a"], ["b"], ["c"]]),
  "a watch of 2 keys": (kv) => kv.watch([["a"], ["b"]]).cancel(),
  "a watch of 3 keys": (kv) => kv.watch([["a"], ["b"], ["c"]]).cancel(),
  "2 checks": (kv) => checks(kv.atomic(), 2).commit(),
  "3 checks": (kv) => checks(kv.atomic(), 3).commit(),
  "2 mutations": (kv) => kv.atomic().set(["a"], 1, { expireIn: 1e9 }).enqueue(1).commit(),
  "3 mutations": (kv) => kv.atomic().set(["a"], 1).delete(["b"]).enqueue(1).commit(),
  "6 bytes of keys": (kv) => kv.atomic().set(["a"], 1).set(["b"], 1).commit(),
  "7 bytes of keys": (kv) => kv.atomic().set(["a"], 1).set(["bc"], 1).commit(),
  "10 bytes in all": (kv) => kv.atomic().set(["a"], 1).set(["b"], 1).commit(),
  "11 bytes in all": (kv) => kv.atomic().set(["a"], 1).set(["b"], 200).commit(),
};

function checks(atomic: AtomicOperation, count: number): AtomicOperation {
  for (let n = 0; n < count; n++) atomic.check({ key: [n], versionstamp: null });
  return atomic;
}

const cases: LimitCase[] = [
  ["keyBytes", 5, "a key of 5 bytes", "a key of 6 bytes", 6],
  ["keyBytes", 5, "a key of 5 bytes", "a read of a key of 6 bytes", 6],
  ["keyBytes", 26, "a key of 5 bytes", "a key of 5 bytes with a versionstamp", 27],
  ["keyBytes", 26, "a key of 5 bytes", "a key of 27 bytes for an undelivered message", 27],
  ["valueBytes", 4, "a value of 4 bytes", "a value of 5 bytes", 5],
  ["keys", 2, "2 keys", "3 keys", 3],
  ["watchedKeys", 2, "a watch of 2 keys", "a watch of 3 keys", 3],
  ["checks", 2, "2 checks", "3 checks", 3],
  ["mutations", 2, "2 mutations", "3 mutations", 3],
  ["totalKeyBytes", 6, "6 bytes of keys", "7 bytes of keys", 7],
  ["totalMutationBytes", 10, "10 bytes in all", "11 bytes in all", 11],
];

describe("limits", () => {
  it.each(cases)(
    "%s of %s takes %s, and refuses %s",
    async (limit, max, within, beyond, actual) => {
      const kv = await openKv(":memory:", { limits: { [limit]: max } });
      expect(kv.limits[limit]).toBe(max);
      await operations[within]!(kv);
      const call = async () => await operations[beyond]!(kv);
      await expect(call()).rejects.toBeInstanceOf(TypeError);
      await expect(call()).rejects.toMatchObject({ code: "KW_LIMIT_EXCEEDED", limit, max, actual });
      await kv.close();
    },
  );

  it("do not count what was refused", async () => {
    const kv = await openKv(":memory:", { limits: { totalKeyBytes: 3, totalMutationBytes: 5 } });
    const atomic = kv.atomic();
    expect(() => atomic.set(["b"], 1, { expireIn: -1 })).toThrow(TypeError);
    expect((await atomic.set(["a"], 1).commit()).ok).toBe(true);
    await kv.close();
  });

  it("of a batch are how many entries are read at once", async () => {
    const kv = await openKv(":memory:", { limits: { batchSize: 2 } });
    for (let n = 0; n < 4; n++) await kv.set([n], n);
    const iterator = kv.list<number>({ prefix: [] }, { batchSize: 100 });
    await iterator.next();
    for (let n = 0; n < 4; n++) await kv.delete([n]);
    expect((await iterator.next()).value?.value).toBe(1);
    expect((await iterator.next()).done).toBe(true);
    await kv.close();
  });

  it("of a batch may be none, and the list of any length", async () => {
    const kv = await openKv(":memory:", { limits: { batchSize: Number.POSITIVE_INFINITY } });
    const atomic = kv.atomic();
    for (let n = 0; n < 6000; n++) atomic.set([n], n);
    await atomic.commit();
    let count = 0;
    for await (const _ of kv.list({ prefix: [] }, { limit: 2 ** 40 })) count++;
    expect(count).toBe(6000);
    await kv.close();
  });

  it("there are none by default to what an operation takes", async () => {
    const kv = await openKv();
    const atomic = kv.atomic();
    for (let n = 0; n < 5000; n++)
      atomic.check({ key: ["n", n], versionstamp: null }).set(["n", n], n);
    expect((await atomic.commit()).ok).toBe(true);
    const keys = Array.from({ length: 5000 }, (_, n) => ["n", n]);
    expect((await kv.getMany<number[]>(keys)).map((entry) => entry.value)).toEqual(
      keys.map(([, n]) => n),
    );
    await kv.set(["bigint", 1n << (8n * 65_534n)], "x".repeat(5_000_000));
    await kv.close();
  });

  it.each([
    ["limits.keyBytes", { keyBytes: 0 }],
    ["limits.keys", { keys: Number.NaN }],
    ["limits.batchSize", { batchSize: 1.5 }],
    ["limits.checks", { checks: "10" }],
    ["limits.checkz", { checkz: 10 }],
  ])("%s is refused as %s", async (option, limits) => {
    await expect(openKv(":memory:", { limits: limits as Partial<KvLimits> })).rejects.toMatchObject(
      {
        code: "KW_OPTION_INVALID",
        option,
      },
    );
  });
});
