import assert from "node:assert/strict";
import type { EngineTestGroup } from "./engine-adapter.js";
import { assertStrictlyIncreasing, commit, del, k, set, values, write } from "./writes.js";

export const reopenTests: EngineTestGroup = {
  name: "after reopening",
  define(test) {
    test("all entries are still there", async ({ engine, reopen }) => {
      const stamp = await commit(engine, write(set("a", 1), set("b", 2), set("c", 3)));
      await commit(engine, write(del("b")));
      await commit(engine, { ...write(set("relaxed", 4)), sync: false });
      const reopened = await reopen();
      assert.deepEqual(await values(reopened, "a", "b", "c", "relaxed"), [1, undefined, 3, 4]);
      assert.equal((await reopened.get(k("c")))?.versionstamp, stamp);
    });

    test("versionstamps continue to increase", async ({ engine, reopen }) => {
      const stamps: unknown[] = [];
      let open = engine;
      for (let round = 0; round < 4; round++) {
        stamps.push(...(await open.commit([write(set("a", round)), write(del("a"))])));
        stamps.push(await commit(open, write(del("not there"))));
        stamps.push(await commit(open, write()));
        open = await reopen();
      }
      assertStrictlyIncreasing(stamps);
    });
  },
};
