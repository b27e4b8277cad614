import assert from "node:assert/strict";
import { collect, keysOf } from "./collect.js";
import type { KvTestGroup } from "./kv-adapter.js";
import { refuses } from "./refuses.js";

export const atomicTests: KvTestGroup = {
  name: "atomic",
  define(test) {
    test("applies all of its mutations in order, with one versionstamp", async ({ kv }) => {
      await kv.set(["gone"], 1);
      const result = await kv
        .atomic()
        .set(["a"], 1)
        .set(["b"], 1)
        .delete(["gone"])
        .set(["a"], 2)
        .set(["c"], 1)
        .delete(["c"])
        .commit();
      assert.ok(result.ok);
      const { versionstamp } = result;
      assert.deepEqual(await collect(kv.list({ prefix: [] })), [
        { key: ["a"], value: 2, versionstamp },
        { key: ["b"], value: 1, versionstamp },
      ]);
    });

    test("writes only if all of its checks hold", async ({ kv }) => {
      const absent = await kv.get(["a"]);
      assert.equal((await kv.atomic().check(absent).set(["a"], 1).commit()).ok, true);
      const present = await kv.get(["a"]);
      for (const checks of [[absent], [present, absent], [absent, present]]) {
        const refused = kv.atomic().set(["a"], 9).set(["b"], 9).delete(["a"]);
        assert.deepEqual(await refused.check(...checks).commit(), { ok: false });
      }
      const chained = await kv.atomic().check(present).check(absent).set(["b"], 9).commit();
      assert.deepEqual(chained, { ok: false });
      assert.deepEqual(await collect(kv.list({ prefix: [] })), [present]);
      const other = { key: ["b"], versionstamp: null };
      assert.equal((await kv.atomic().check(present, other).set(["a"], 2).commit()).ok, true);
      assert.equal((await kv.get(["a"])).value, 2);
    });

    for (const [name, versionstamp] of Object.entries(noVersionstamps)) {
      test(`refuses ${name} as a versionstamp`, async ({ kv }) => {
        await kv.set(["a"], 1);
        const check = { key: ["a"], versionstamp };
        await refuses(() => kv.atomic().check(check).set(["b"], 1).commit());
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["a"]]);
      });
    }

    test("refuses an invalid versionstamp with a TypeError", async ({ kv }) => {
      for (const versionstamp of Object.values(noVersionstamps)) {
        const check = { key: ["a"], versionstamp };
        await refuses(() => kv.atomic().check(check).commit(), TypeError);
      }
    });

    test("throws for invalid input when it is passed in, and ignores it", async ({ kv }) => {
      await kv.set(["a"], 1);
      const atomic = kv.atomic().set(["b"], 2);
      const wrong = { key: ["a"], versionstamp: "1" };
      assert.throws(() => atomic.check({ key: ["a"], versionstamp: null }, wrong), TypeError);
      assert.throws(() => atomic.set([], 1), TypeError);
      assert.throws(() => atomic.set(["c"], () => 1), TypeError);
      assert.throws(() => atomic.delete([]), TypeError);
      assert.throws(() => atomic.sum(["c"], 1 as unknown as bigint), TypeError);
      assert.throws(() => atomic.set(["c"], 1, { expireIn: -1 }), TypeError);
      assert.throws(() => atomic.enqueue("message", { delay: -1 }), TypeError);
      assert.equal((await atomic.commit()).ok, true);
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["a"], ["b"]]);
    });

    test("cannot be awaited without commit()", async ({ kv }) => {
      await refuses(async () => await (kv.atomic().set(["a"], 1) as unknown), TypeError);
      assert.equal((await kv.get(["a"])).versionstamp, null);
    });

    test("checks, and gets a versionstamp, without mutations", async ({ kv }) => {
      const first = await kv.atomic().commit();
      const { versionstamp } = await kv.set(["a"], 1);
      const key = ["a"];
      const second = await kv.atomic().check({ key, versionstamp }).commit();
      assert.ok(first.ok && second.ok);
      assert.ok(first.versionstamp < versionstamp && versionstamp < second.versionstamp);
      const failed = await kv.atomic().check({ key, versionstamp: null }).commit();
      assert.deepEqual(failed, { ok: false });
    });

    test("copies values when they are passed in", async ({ kv }) => {
      const value = { n: 1 };
      const atomic = kv.atomic().set(["a"], value);
      value.n = 2;
      await atomic.commit();
      assert.deepEqual((await kv.get(["a"])).value, { n: 1 });
    });

    test("commits what it had when commit was called", async ({ kv }) => {
      const atomic = kv.atomic().set(["a"], 1);
      const commit = atomic.commit();
      atomic.set(["late"], 1).check({ key: ["a"], versionstamp: "0".repeat(20) });
      assert.equal((await commit).ok, true);
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["a"]]);
    });

    test("does nothing before it is committed", async ({ kv }) => {
      kv.atomic().set(["a"], 1);
      assert.equal((await kv.get(["a"])).versionstamp, null);
    });

    test("loses none of 64 concurrent increments by check and set", async ({ kv }) => {
      const increment = async () => {
        // An attempt fails only if another increment has succeeded, so 64 attempts are enough.
        for (let attempt = 0; attempt < 64; attempt++) {
          const counter = await kv.get<number>(["counter"]);
          const next = (counter.value ?? 0) + 1;
          const { ok } = await kv.atomic().check(counter).set(["counter"], next).commit();
          if (ok) return;
        }
        assert.fail("it failed more often than others succeeded");
      };
      await Promise.all(Array.from({ length: 64 }, increment));
      assert.equal((await kv.get(["counter"])).value, 64);
    });

    test("lets one of 64 concurrent operations claim a key", async ({ kv }) => {
      const claims = Array.from({ length: 64 }, async (_, n) => {
        const check = { key: ["claim"], versionstamp: null };
        return (await kv.atomic().check(check).set(["claim"], n).commit()).ok;
      });
      const winners = (await Promise.all(claims)).flatMap((ok, n) => (ok ? [n] : []));
      assert.equal(winners.length, 1);
      assert.equal((await kv.get(["claim"])).value, winners[0]);
    });
  },
};

const noVersionstamps = {
  "an empty string": "",
  "a digit": "1",
  "a string with an upper-case digit": "0000000000000000000A",
  undefined: undefined,
  "a number": 1,
  "a string that ends in a line break": `${"0".repeat(20)}\n`,
} as unknown as Record<string, string>;
