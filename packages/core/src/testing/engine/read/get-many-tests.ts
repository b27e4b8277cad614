import assert from "node:assert/strict";
import type { EngineTestGroup } from "../engine-adapter.js";
import { commit, firstBytes, k, set, write } from "../writes.js";
import { snapshotTest } from "./snapshot-test.js";

export const getManyTests: EngineTestGroup = {
  name: "getMany",
  define(test) {
    test("returns entries in the order of the keys, absent or repeated", async ({ engine }) => {
      await commit(engine, write(set("a", 1), set("b", 2)));
      const entries = await engine.getMany([k("b"), k("missing"), k("a"), k("b")]);
      assert.deepEqual(firstBytes(entries), [2, undefined, 1, 2]);
      assert.deepEqual(await engine.getMany([]), []);
    });

    test(
      "reads from one snapshot during commits",
      snapshotTest(async (engine, keys) => await engine.getMany(keys)),
    );
  },
};
