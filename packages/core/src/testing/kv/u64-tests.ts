import assert from "node:assert/strict";
import type { KvMutation } from "../../kv/atomic-operation.js";
import type { Kv } from "../../kv/kv.js";
import { keysOf } from "./collect.js";
import type { KvTestGroup } from "./kv-adapter.js";
import { refuses } from "./refuses.js";

const largest = (1n << 64n) - 1n;

export const u64Tests: KvTestGroup = {
  name: "sum, min, max",
  define(test) {
    test("store their operand if the key is absent", async ({ kv, KvU64 }) => {
      const commit = await kv.atomic().sum(["sum"], 5n).min(["min"], 6n).max(["max"], 7n).commit();
      assert.ok(commit.ok);
      const entries = await kv.getMany([["sum"], ["min"], ["max"]]);
      for (const [index, entry] of entries.entries()) {
        assert.ok(entry.value instanceof KvU64);
        assert.deepEqual(entry.value, new KvU64(BigInt(5 + index)));
        assert.equal(entry.versionstamp, commit.versionstamp);
      }
    });

    test("combine their operand with the stored number", async ({ kv, KvU64 }) => {
      for (const name of ["sum", "min", "max"]) await kv.set([name], new KvU64(10n));
      await kv.atomic().sum(["sum"], 3n).min(["min"], 3n).max(["max"], 3n).commit();
      assert.deepEqual(await numbers(kv), { sum: 13n, min: 3n, max: 10n });
      await kv.atomic().sum(["sum"], 20n).min(["min"], 20n).max(["max"], 20n).commit();
      assert.deepEqual(await numbers(kv), { sum: 33n, min: 3n, max: 20n });
      await kv.atomic().sum(["sum"], 0n).min(["min"], 0n).max(["max"], 0n).commit();
      assert.deepEqual(await numbers(kv), { sum: 33n, min: 0n, max: 20n });
    });

    test("a sum wraps around to 0 after 2^64 - 1", async ({ kv }) => {
      const sum = async (n: bigint) => {
        await kv.atomic().sum(["a"], n).commit();
        return (await kv.get<{ value: bigint }>(["a"])).value?.value;
      };
      assert.equal(await sum(largest), largest);
      assert.equal(await sum(1n), 0n);
      assert.equal(await sum(7n), 7n);
      assert.equal(await sum(largest), 6n);
      assert.equal(await sum(1n << 63n), (1n << 63n) + 6n);
      assert.equal(await sum(1n << 63n), 6n);
    });

    test("compare all 64 bits", async ({ kv }) => {
      const top = 1n << 63n;
      await kv.atomic().min(["min"], top).max(["max"], 1n).sum(["sum"], 0n).commit();
      await kv.atomic().min(["min"], largest).max(["max"], top).commit();
      assert.deepEqual(await numbers(kv), { sum: 0n, min: top, max: top });
      const below = top - 1n;
      await kv.atomic().min(["min"], below).max(["max"], below).commit();
      assert.deepEqual(await numbers(kv), { sum: 0n, min: below, max: top });
    });

    test("see the earlier mutations of their commit", async ({ kv, KvU64 }) => {
      await kv.set(["sum"], new KvU64(100n));
      await kv
        .atomic()
        .delete(["sum"])
        .sum(["sum"], 1n)
        .sum(["sum"], 2n)
        .set(["min"], new KvU64(9n))
        .min(["min"], 5n)
        .min(["min"], 7n)
        .max(["max"], 5n)
        .sum(["max"], 1n)
        .max(["max"], 4n)
        .commit();
      assert.deepEqual(await numbers(kv), { sum: 3n, min: 5n, max: 6n });
    });

    test("can be passed as data, with set and delete", async ({ kv, KvU64 }) => {
      await kv.set(["gone"], 1);
      const mutations: KvMutation[] = [
        { type: "set", key: ["sum"], value: new KvU64(1n) },
        { type: "sum", key: ["sum"], value: new KvU64(2n) },
        { type: "min", key: ["min"], value: new KvU64(3n) },
        { type: "max", key: ["max"], value: new KvU64(4n) },
        { type: "delete", key: ["gone"] },
      ];
      const operation = kv.atomic().mutate(...mutations);
      await operation.commit();
      assert.deepEqual(await numbers(kv), { sum: 3n, min: 3n, max: 4n });
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["max"], ["min"], ["sum"]]);
    });

    test("count every one of 64 concurrent sums", async ({ kv }) => {
      const sums = Array.from({ length: 64 }, (_, n) => kv.atomic().sum(["a"], BigInt(n)).commit());
      for (const result of await Promise.all(sums)) assert.equal(result.ok, true);
      assert.equal((await kv.get<{ value: bigint }>(["a"])).value?.value, 2016n);
    });

    test("have no effect if a check fails", async ({ kv, KvU64 }) => {
      await kv.set(["a"], new KvU64(1n));
      const check = { key: ["a"], versionstamp: null };
      const result = await kv.atomic().check(check).sum(["a"], 1n).commit();
      assert.deepEqual(result, { ok: false });
      assert.deepEqual((await kv.get(["a"])).value, new KvU64(1n));
    });

    const others = { "a number": 1, "a bigint": 1n, null: null, "eight bytes": new Uint8Array(8) };
    for (const [name, value] of Object.entries(others)) {
      test(`refuse the whole commit if ${name} is stored`, async ({ kv }) => {
        const { versionstamp } = await kv.set(["a"], value);
        for (const type of ["sum", "min", "max"] as const) {
          const atomic = kv.atomic().set(["b"], 1)[type](["a"], 1n).set(["c"], 1);
          await assert.rejects(atomic.commit(), Error);
        }
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["a"]]);
        assert.deepEqual(await kv.get(["a"]), { key: ["a"], value, versionstamp });
      });
    }

    test("throw a TypeError if another value is stored", async ({ kv }) => {
      await kv.set(["a"], 1);
      for (const type of ["sum", "min", "max"] as const)
        await refuses(() => kv.atomic()[type](["a"], 1n).commit(), TypeError);
    });

    test("do not affect concurrent commits if they are refused", async ({ kv, KvU64 }) => {
      await kv.set(["text"], "text");
      const results = await Promise.allSettled([
        kv.atomic().sum(["a"], 1n).commit(),
        kv.atomic().set(["c"], 1).sum(["a"], 10n).sum(["text"], 1n).commit(),
        kv.atomic().sum(["a"], 100n).commit(),
        kv.set(["b"], 1),
      ]);
      assert.deepEqual(
        results.map((result) => result.status),
        ["fulfilled", "rejected", "fulfilled", "fulfilled"],
      );
      assert.deepEqual((await kv.get(["a"])).value, new KvU64(101n));
      assert.equal((await kv.get(["c"])).versionstamp, null);
    });

    const number = 1 as unknown as bigint;
    const noOperands = { "a negative bigint": -1n, "2^64": 1n << 64n, "a number": number };
    for (const [name, operand] of Object.entries(noOperands)) {
      test(`refuse ${name} as an operand`, async ({ kv }) => {
        for (const type of ["sum", "min", "max"] as const)
          await refuses(() => kv.atomic()[type](["a"], operand).commit());
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
      });
    }

    test("throw a RangeError for an operand out of range", async ({ kv }) => {
      for (const operand of [-1n, 1n << 64n])
        await refuses(() => kv.atomic().sum(["a"], operand).commit(), RangeError);
      await refuses(() => kv.atomic().sum(["a"], number).commit());
    });

    for (const [name, mutation] of Object.entries(noMutations)) {
      test(`mutate refuses ${name}`, async ({ kv }) => {
        await refuses(() => kv.atomic().set(["b"], 1).mutate(mutation).commit());
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
      });
    }

    test("throw a TypeError for an invalid mutation", async ({ kv }) => {
      for (const mutation of Object.values(noMutations))
        await refuses(() => kv.atomic().mutate(mutation).commit(), TypeError);
    });
  },
};

const noMutations = {
  "a mutation of an unknown type": { type: "add", key: ["a"], value: 1n },
  "a sum of a number": { type: "sum", key: ["a"], value: 1 },
  "a sum of a bigint": { type: "sum", key: ["a"], value: 1n },
  "a sum without a value": { type: "sum", key: ["a"] },
  "a set without a value": { type: "set", key: ["a"] },
  "a delete with a value": { type: "delete", key: ["a"], value: 1 },
  "a mutation without a key": { type: "delete" },
} as unknown as Record<string, KvMutation>;

async function numbers(kv: Kv): Promise<Record<"sum" | "min" | "max", bigint | undefined>> {
  const [sum, min, max] = await kv.getMany<{ value: bigint }[]>([["sum"], ["min"], ["max"]]);
  return { sum: sum?.value?.value, min: min?.value?.value, max: max?.value?.value };
}
