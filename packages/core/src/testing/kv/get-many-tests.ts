import assert from "node:assert/strict";
import { nextTurn } from "#platform";
import type { KvTestGroup } from "./kv-adapter.js";

export const getManyTests: KvTestGroup = {
  name: "getMany",
  define(test) {
    test("returns entries in the order of the keys", async ({ kv }) => {
      const { versionstamp } = await kv.set(["a"], 1);
      const entries = await kv.getMany([["b"], ["a"], ["b"], ["a"]]);
      assert.deepEqual(entries, [
        { key: ["b"], value: null, versionstamp: null },
        { key: ["a"], value: 1, versionstamp },
        { key: ["b"], value: null, versionstamp: null },
        { key: ["a"], value: 1, versionstamp },
      ]);
      assert.deepEqual(await kv.getMany([]), []);
    });

    test("accepts a thousand keys", async ({ kv }) => {
      const keys = Array.from({ length: 1000 }, (_, n) => ["n", n]);
      const atomic = kv.atomic();
      for (const [n, key] of keys.entries()) if (n % 2 === 0) atomic.set(key, n);
      await atomic.commit();
      const entries = await kv.getMany<(number | null)[]>(keys);
      assert.deepEqual(
        entries.map((entry) => entry.value),
        keys.map((_, n) => (n % 2 === 0 ? n : null)),
      );
    });

    test("never sees a part of a commit", async ({ kv }) => {
      let isWriting = true;
      const writer = (async () => {
        for (let n = 0; n < 50; n++) await kv.atomic().set(["a"], n).set(["b"], n).commit();
        isWriting = false;
      })();
      while (isWriting) {
        const [a, b] = await kv.getMany<[number, number]>([["a"], ["b"]]);
        assert.equal(a.value, b.value);
        assert.equal(a.versionstamp, b.versionstamp);
        // Reads that are answered synchronously would otherwise starve the writer.
        await nextTurn();
      }
      await writer;
    });
  },
};
