import assert from "node:assert/strict";
import type { AtomicWrite, StoredMutation } from "../../engine/engine.js";
import { assertOneState, besideCommits } from "./beside-commits.js";
import type { EngineTestGroup } from "./engine-adapter.js";
import { commit, k, plain, set, v, write } from "./writes.js";

export const getManyTests: EngineTestGroup = {
  name: "getMany",
  define(test) {
    test("returns entries in the order of the keys, absent or repeated", async ({ engine }) => {
      await commit(engine, write(set("a", 1), set("b", 2)));
      const entries = await engine.getMany([k("b"), k("missing"), k("a"), k("b")]);
      assert.deepEqual(
        entries.map((entry) => plain(entry)?.value),
        [[2], undefined, [1], [2]],
      );
      assert.deepEqual(await engine.getMany([]), []);
    });

    test("reads from one snapshot during commits", async ({ engine }) => {
      const keys = Array.from({ length: 100 }, (_, i) => k("counter", i));
      const setAll = (n: number): AtomicWrite =>
        write(...keys.map((key): StoredMutation => ({ type: "set", key, value: v(n) })));
      await commit(engine, setAll(0));
      await besideCommits(engine, 100, setAll, async () => {
        const entries = await engine.getMany(keys);
        assertOneState(entries, keys.length);
      });
    });
  },
};
