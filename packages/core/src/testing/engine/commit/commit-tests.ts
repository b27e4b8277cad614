import assert from "node:assert/strict";
import type { EngineTestGroup } from "../engine-adapter.js";
import {
  applied,
  assertStrictlyIncreasing,
  check,
  commit,
  del,
  k,
  set,
  stampsOf,
  values,
  write,
} from "../writes.js";

export const commitTests: EngineTestGroup = {
  name: "commit",
  define(test) {
    test("applies the mutations of a write in order", async ({ engine }) => {
      await commit(engine, write(set("a", 1), del("a"), set("a", 2), set("b", 1), del("b")));
      assert.deepEqual(await values(engine, "a", "b"), [2, undefined]);
      await commit(engine, write(del("a"), set("a", 3), del("never there")));
      assert.deepEqual(await values(engine, "a", "never there"), [3, undefined]);
    });

    test("gives all keys of a write one versionstamp", async ({ engine }) => {
      const writes = [write(set("a", 1), set("b", 1)), write(set("c", 1)), write(set("d", 1))];
      const outcomes = await engine.commit(writes);
      const next = await commit(engine, write(set("e", 1)));
      const entries = await engine.getMany([k("a"), k("b"), k("c"), k("d"), k("e")]);
      assert.deepEqual(stampsOf(entries), [outcomes[0], ...outcomes, next]);
      assertStrictlyIncreasing([...outcomes, next]);
    });

    test("applies a write only if all of its checks hold", async ({ engine }) => {
      const stamp = await commit(engine, write(set("a", 1)));
      const stale = stamp.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
      const refused = [
        [check("a", null)],
        [check("a", stale)],
        [check("b", stamp)],
        [check("a", stamp), check("b", stamp)],
        [check("b", stamp), check("a", stamp)],
      ];
      for (const checks of refused) {
        const refusal = await engine.commit([write(checks, set("a", 9), set("c", 9))]);
        assert.deepEqual(refusal, [null]);
        assert.deepEqual(await values(engine, "a", "c"), [1, undefined]);
      }
      await commit(engine, write([check("a", stamp), check("b", null)], set("a", 2), set("b", 2)));
      assert.deepEqual(await values(engine, "a", "b"), [2, 2]);
    });

    test("evaluates the checks of a write before its mutations", async ({ engine }) => {
      await commit(engine, write([check("a", null)], set("a", 1), del("a"), set("a", 2)));
      assert.deepEqual(await values(engine, "a"), [2]);
    });

    test("lets a check see a deletion", async ({ engine }) => {
      const stamp = await commit(engine, write(set("a", 1)));
      await commit(engine, write(del("a")));
      assert.deepEqual(await engine.commit([write([check("a", stamp)], set("a", 2))]), [null]);
      await commit(engine, write([check("a", null)], set("a", 3)));
    });

    test("lets a check see the earlier writes of its group", async ({ engine }) => {
      const stamp = await commit(engine, write(set("old", 1), set("gone", 1)));
      const areApplied = await applied(
        engine,
        write([check("new", null)], set("new", 1), set("old", 2), del("gone")),
        write([check("new", null)], set("new", 9)),
        write([check("old", stamp)], set("old", 9)),
        write([check("gone", stamp)], set("gone", 9)),
        write([check("gone", null)], set("gone", 2)),
        write([check("gone", null)], set("gone", 9)),
      );
      assert.deepEqual(areApplied, [true, false, false, false, true, false]);
      assert.deepEqual(await values(engine, "new", "old", "gone"), [1, 2, 2]);
    });

    test("does not let a check see a refused write", async ({ engine }) => {
      await commit(engine, write(set("a", 1)));
      const areApplied = await applied(
        engine,
        write([check("a", null)], set("b", 9)),
        write([check("b", null)], set("b", 1)),
      );
      assert.deepEqual(areApplied, [false, true]);
      assert.deepEqual(await values(engine, "b"), [1]);
    });

    test("distinguishes keys that begin with the same bytes", async ({ engine }) => {
      const longer = { key: k("a", "") };
      const areApplied = await applied(
        engine,
        write(set("a", 1)),
        write([{ ...longer, versionstamp: null }], set("a", 2, longer)),
        write([check("a\0", null)], set("a\0", 3)),
      );
      assert.deepEqual(areApplied, [true, true, true]);
    });

    test("writes nothing if no write of a group is applied", async ({ engine, reopen }) => {
      const stamp = await commit(engine, write(set("a", 1)));
      const refused = write([check("a", null)], set("a", 9), set("b", 9));
      assert.deepEqual(await engine.commit([refused, refused]), [null, null]);
      assert.deepEqual(await engine.commit([]), []);
      const reopened = await reopen();
      assert.deepEqual(await values(reopened, "a", "b"), [1, undefined]);
      assertStrictlyIncreasing([stamp, await commit(reopened, write(set("a", 2)))]);
    });

    test("gives an empty write its own versionstamp", async ({ engine, reopen }) => {
      const stamps = [await commit(engine, write()), await commit(engine, write())];
      const reopened = await reopen();
      stamps.push(await commit(reopened, write()), await commit(reopened, write(set("a", 1))));
      assertStrictlyIncreasing(stamps);
    });

    test("accepts a hundred writes at once", async ({ engine }) => {
      const writes = Array.from({ length: 100 }, (_, i) => write(set(`key ${i}`, i)));
      const outcomes = await engine.commit(writes);
      assertStrictlyIncreasing(outcomes);
      const entries = await engine.getMany(writes.map((each) => each.mutations[0]!.key));
      assert.deepEqual(stampsOf(entries), outcomes);
    });
  },
};
