import assert from "node:assert/strict";
import type { KvKey } from "../../keys/key.js";
import type { KvMutation } from "../../kv/atomic-operation.js";
import type { Kv } from "../../kv/kv.js";
import { soon, until } from "../soon.js";
import { keysOf, valuesOf } from "./collect.js";
import type { KvTestGroup } from "./kv-adapter.js";
import { refuses } from "./refuses.js";

const hour = 3_600_000;

export const expiryTests: KvTestGroup = {
  name: "expireIn",
  define(test) {
    test("an entry is present until it expires", async ({ kv }) => {
      const { versionstamp } = await kv.set(["a"], 1, { expireIn: hour });
      const entry = await kv.get(["a"]);
      assert.deepEqual([entry.value, entry.versionstamp], [1, versionstamp]);
      assert.deepEqual(await valuesOf(kv.list({ prefix: [] })), [1]);
      await kv.atomic().set(["b"], 2, { expireIn: hour }).commit();
      const mutation: KvMutation = { type: "set", key: ["c"], value: 3, expireIn: hour };
      await kv.atomic().mutate(mutation).commit();
      assert.deepEqual(await valuesOf(kv.list({ prefix: [] })), [1, 2, 3]);
    });

    test("an expired entry is absent", async ({ kv }) => {
      await kv.set(["b"], 2);
      await expired(kv, ["a"]);
      const absent = { key: ["a"], value: null, versionstamp: null };
      assert.deepEqual(await kv.get(["a"]), absent);
      const [a, b] = await kv.getMany([["a"], ["b"]]);
      assert.deepEqual([a, b.value], [absent, 2]);
    });

    test("an expired entry is not listed and does not count toward a limit", async ({ kv }) => {
      for (const n of [1, 3, 5]) await kv.set(["n", n], n);
      await expired(kv, ["n", 0], ["n", 2], ["n", 4], ["n", 6]);
      for (const batchSize of [1, 2, 100]) {
        const options = { batchSize };
        assert.deepEqual(await valuesOf(kv.list({ prefix: ["n"] }, options)), [1, 3, 5]);
        const two = kv.list({ prefix: ["n"] }, { ...options, limit: 2 });
        assert.deepEqual(await valuesOf(two), [1, 3]);
        const backwards = kv.list({ prefix: ["n"] }, { ...options, limit: 2, reverse: true });
        assert.deepEqual(await valuesOf(backwards), [5, 3]);
      }
    });

    test("an entry expires if its set is passed as data", async ({ kv }) => {
      const mutation: KvMutation = { type: "set", key: ["a"], value: 1, expireIn: 30 };
      await kv.atomic().mutate(mutation).commit();
      await until(Date.now() + 30);
      assert.equal((await kv.get(["a"])).versionstamp, null);
    });

    test("an iterator continues after an entry that has expired", async ({ kv }) => {
      for (const n of [1, 3]) await kv.set(["n", n], n);
      await kv.set(["n", 2], 2, { expireIn: hour });
      const iterator = kv.list<number>({ prefix: ["n"] }, { batchSize: 1 });
      await iterator.next();
      assert.equal((await iterator.next()).value?.value, 2);
      const { cursor } = iterator;
      await expired(kv, ["n", 2]);
      assert.deepEqual(await valuesOf(iterator), [3]);
      assert.deepEqual(await valuesOf(kv.list({ prefix: ["n"] }, { cursor })), [3]);
    });

    test("an expired key is absent for a check", async ({ kv }) => {
      const [stamp] = await expired(kv, ["a"]);
      const old = { key: ["a"], versionstamp: stamp! };
      assert.deepEqual(await kv.atomic().check(old).set(["a"], 2).commit(), { ok: false });
      const absent = { key: ["a"], versionstamp: null };
      assert.equal((await kv.atomic().check(absent).set(["a"], 2).commit()).ok, true);
      assert.equal((await kv.get(["a"])).value, 2);
    });

    test("sum, min and max treat an expired entry as absent", async ({ kv, KvU64 }) => {
      await kv.set(["a"], new KvU64(5n), { expireIn: 30 });
      await kv.set(["b"], "text", { expireIn: 30 });
      await until(Date.now() + 30);
      await kv.atomic().sum(["a"], 1n).max(["b"], 2n).commit();
      assert.deepEqual((await kv.get(["a"])).value, new KvU64(1n));
      assert.deepEqual((await kv.get(["b"])).value, new KvU64(2n));
    });

    test("setting a key again replaces its expiry time", async ({ kv }) => {
      await kv.set(["longer"], 1, { expireIn: 30 });
      await kv.set(["longer"], 2, { expireIn: hour });
      await kv.set(["shorter"], 1, { expireIn: hour });
      await kv.set(["shorter"], 2, { expireIn: 30 });
      await kv
        .atomic()
        .set(["both"], 1, { expireIn: 30 })
        .set(["both"], 2, { expireIn: hour })
        .commit();
      await until(Date.now() + 30);
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["both"], ["longer"]]);
      assert.equal((await kv.get(["longer"])).value, 2);
    });

    test("set without expireIn, sum and delete remove the expiry", async ({ kv, KvU64 }) => {
      await kv.set(["set"], 1, { expireIn: 30 });
      await kv.set(["set"], 2);
      await kv.set(["delete"], 1, { expireIn: 30 });
      await kv.delete(["delete"]);
      await kv.set(["delete"], 2);
      await kv.atomic().set(["sum"], new KvU64(1n), { expireIn: 30 }).sum(["sum"], 1n).commit();
      await until(Date.now() + 30);
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["delete"], ["set"], ["sum"]]);
    });

    test("a refused commit does not change the expiry time", async ({ kv }) => {
      // Long enough that the commit arrives in time even over a new connection.
      const life = 300;
      await kv.set(["a"], 1, { expireIn: life });
      const check = { key: ["a"], versionstamp: null };
      assert.equal((await kv.atomic().check(check).set(["a"], 2).commit()).ok, false);
      await until(Date.now() + life);
      assert.equal((await kv.get(["a"])).versionstamp, null);
    });

    test(
      "an expired entry is absent after reopening",
      async ({ kv, reopen }) => {
        await kv.set(["long"], 2, { expireIn: hour });
        await kv.set(["always"], 3);
        await expired(kv, ["short"]);
        const reopened = await reopen();
        assert.equal((await reopened.get(["short"])).versionstamp, null);
        assert.deepEqual(await keysOf(reopened.list({ prefix: [] })), [["always"], ["long"]]);
      },
      "reopen",
    );

    test(
      "an entry expires after reopening",
      async ({ kv, reopen }) => {
        await kv.set(["a"], 1, { expireIn: 300 });
        const reopened = await reopen();
        const gone = async () => {
          while ((await reopened.get(["a"])).versionstamp !== null) await until(Date.now() + 10);
        };
        await soon("the entry to expire", gone());
      },
      "reopen",
    );

    test("an entry has its expiry time", async ({ kv }) => {
      const before = Date.now();
      await kv.set(["a"], 1, { expireIn: hour });
      await kv.set(["b"], 1);
      const after = Date.now();
      const [a, b] = await kv.getMany([["a"], ["b"]]);
      assert.ok("expireAt" in a && a.expireAt !== undefined);
      assert.ok(a.expireAt >= before + hour && a.expireAt <= after + hour);
      assert.equal("expireAt" in b, false);
      assert.deepEqual((await kv.list({ prefix: [] }).next()).value, a);
    });

    for (const [name, expireIn] of Object.entries(noTimes)) {
      test(`refuses ${name} as expireIn`, async ({ kv }) => {
        const options = { expireIn };
        await refuses(() => kv.set(["a"], 1, options), TypeError);
        await refuses(() => kv.atomic().set(["b"], 1).set(["a"], 1, options).commit(), TypeError);
        const mutation: KvMutation = { type: "set", key: ["a"], value: 1, expireIn };
        await refuses(() => kv.atomic().mutate(mutation).commit(), TypeError);
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
      });
    }
  },
};

const noTimes = {
  "0": 0,
  "a negative number": -1,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "a string": "1",
  null: null,
} as unknown as Record<string, number>;

async function expired(kv: Kv, ...keys: KvKey[]): Promise<string[]> {
  const atomic = kv.atomic();
  for (const key of keys) atomic.set(key, "expired", { expireIn: 30 });
  const result = await atomic.commit();
  assert.ok(result.ok);
  await until(Date.now() + 30);
  return keys.map(() => result.versionstamp);
}
