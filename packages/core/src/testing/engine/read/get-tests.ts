import assert from "node:assert/strict";
import type { EngineTestGroup } from "../engine-adapter.js";
import { commit, k, plain, set, v, write } from "../writes.js";

export const getTests: EngineTestGroup = {
  name: "get",
  define(test) {
    test("returns undefined for an absent key", async ({ engine }) => {
      assert.equal(await engine.get(k("a")), undefined);
      await commit(engine, write(set("a", 1)));
      assert.equal(await engine.get(k("a", 1)), undefined);
      assert.equal(await engine.get(k("b")), undefined);
    });

    test("returns the key, the value and the versionstamp of its commit", async ({ engine }) => {
      const versionstamp = await commit(engine, write(set("a", 7)));
      const entry = await engine.get(k("a"));
      assert.deepEqual(plain(entry), { key: [...k("a")], value: [7], versionstamp });
    });

    test("reads back an empty value and a value of a megabyte", async ({ engine }) => {
      const large = Uint8Array.from({ length: 1_000_000 }, (_, i) => i % 251);
      const empty = set("empty", 0, { value: new Uint8Array(0) });
      await commit(engine, write(empty, set("large", 0, { value: large })));
      assert.equal((await engine.get(k("empty")))?.value.length, 0);
      assert.deepEqual(new Uint8Array((await engine.get(k("large")))!.value), large);
    });

    test("accepts keys of every part type, empty parts and long parts", async ({ engine }) => {
      const keys = [
        k(""),
        k(new Uint8Array(0)),
        k("\0"),
        k(Number.NaN),
        k(-0),
        k(0),
        k(0n),
        k(-(1n << 100n)),
        k(true),
        k(false),
        k("x".repeat(3000)),
      ];
      await commit(engine, write(...keys.map((key, i) => set("", i, { key }))));
      for (const [index, key] of keys.entries())
        assert.deepEqual(plain(await engine.get(key))?.value, [index]);
    });

    test("does not keep the memory of a value that was passed in", async ({ engine }) => {
      const value = v(1, 2, 3);
      await commit(engine, write(set("a", 0, { value })));
      value.fill(9);
      assert.deepEqual(plain(await engine.get(k("a")))?.value, [1, 2, 3]);
    });
  },
};
