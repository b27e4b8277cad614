import assert from "node:assert/strict";
import type { KvKey } from "../../keys/key.js";
import type { KvSetKey } from "../../kv/atomic-operation.js";
import type { Kv } from "../../kv/kv.js";
import { collect, keysOf, valuesOf } from "./collect.js";
import type { KvTestGroup } from "./kv-adapter.js";
import { refuses } from "./refuses.js";

export const commitVersionstampTests: KvTestGroup = {
  name: "commitVersionstamp",
  define(test) {
    test("as the last part becomes the versionstamp of the commit", async ({ kv }) => {
      const { versionstamp } = await kv.set(["a", stampOf(kv)], 1);
      assert.deepEqual(await collect(kv.list({ prefix: [] })), [
        { key: ["a", versionstamp], value: 1, versionstamp },
      ]);
      assert.equal((await kv.get(["a", versionstamp])).value, 1);
    });

    test("makes keys sort in the order of their commits", async ({ kv }) => {
      for (let n = 0; n < 20; n++) await kv.set(["log", stampOf(kv)], n);
      const numbers = Array.from({ length: 20 }, (_, n) => n);
      assert.deepEqual(await valuesOf(kv.list({ prefix: ["log"] })), numbers);
    });

    test("is the same for all keys of a commit", async ({ kv }) => {
      const stamp = stampOf(kv);
      const result = await kv
        .atomic()
        .check({ key: ["a"], versionstamp: null })
        .set(["a", stamp], 1)
        .set(["b", 1n, stamp], 2)
        .set(["c"], 3)
        .set(["a", stamp], 4)
        .commit();
      assert.ok(result.ok);
      const { versionstamp } = result;
      assert.deepEqual(await collect(kv.list({ prefix: [] })), [
        { key: ["a", versionstamp], value: 4, versionstamp },
        { key: ["b", 1n, versionstamp], value: 2, versionstamp },
        { key: ["c"], value: 3, versionstamp },
      ]);
    });

    test("is accepted in a set that is passed as data", async ({ kv }) => {
      const key = ["a", stampOf(kv)] as unknown as KvKey;
      const result = await kv.atomic().mutate({ type: "set", key, value: 1 }).commit();
      assert.ok(result.ok);
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["a", result.versionstamp]]);
    });

    test("stores nothing if a check fails", async ({ kv }) => {
      const check = { key: ["a"], versionstamp: "0".repeat(20) };
      const stamp = stampOf(kv);
      const result = await kv.atomic().check(check).set(["a", stamp], 1).commit();
      assert.deepEqual(result, { ok: false });
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
    });

    test("is refused except as the last part of a key to set", async ({ kv }) => {
      const stamp = stampOf(kv);
      const key = ["a", stamp] as unknown as KvKey;
      await refuses(() => kv.set([stamp, "a"] as unknown as KvKey, 1));
      await refuses(() => kv.set(["a", stamp, stamp] as unknown as KvKey, 1));
      await refuses(() => kv.get(key));
      await refuses(() => kv.getMany([key]));
      await refuses(() => kv.delete(key));
      await refuses(() => kv.list({ prefix: key }).next());
      await refuses(() => kv.atomic().sum(key, 1n).commit());
      await refuses(() => kv.atomic().check({ key, versionstamp: null }).commit());
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
    });

    test("is refused as the only part of a key", async ({ kv }) => {
      await refuses(() => kv.set([stampOf(kv)], 1));
    });

    test("does not make other symbols valid", async ({ kv }) => {
      stampOf(kv);
      const key: KvSetKey = ["a", Symbol("another")];
      await refuses(() => kv.set(key, 1));
    });
  },
};

/** Calls `kv.commitVersionstamp()`. It is not part of `Kv`, because `@deno/kv` does not have it. */
function stampOf(kv: Kv): symbol {
  return (kv as Kv & { commitVersionstamp(): symbol }).commitVersionstamp();
}
