import assert from "node:assert/strict";
import type { AtomicWrite, RangeCheck, StoredMutation } from "../../../engine/engine.js";
import { type KeyRange, keyRange } from "../../../keys/key-range.js";
import { until } from "../../soon.js";
import type { EngineTestGroup } from "../engine-adapter.js";
import { applied, check, combine, commit, del, k, set, write } from "../writes.js";

/** The keys from `b` up to `d`, without `d`. */
const bToD = keyRange({ start: ["b"], end: ["d"] });

export const rangeCheckTests: EngineTestGroup = {
  name: "range checks",
  define(addTest) {
    const test: typeof addTest = (name, body) => addTest(name, body, "rangeChecks");

    test("hold while nothing in the range changes", async ({ engine }) => {
      const since = await commit(engine, write(set("b", 1), set("c", 1)));
      assert.deepEqual(await applied(engine, inRange(since, set("c", 2))), [true]);
      const later = await commit(engine, write(set("a", 1), set("d", 1), del("e")));
      // What the first of them has changed counts.
      assert.deepEqual(await applied(engine, inRange(since, set("x", 1))), [false]);
      assert.deepEqual(await applied(engine, inRange(later, set("x", 1))), [true]);
      assert.equal(typeof (await engine.get(k("x")))?.versionstamp, "string");
    });

    const changes: Record<string, StoredMutation> = {
      "a new key": set("bb", 1),
      "a changed value": set("c", 2),
      "the first key": set("b", 1),
      "a deleted key": del("c"),
      "a sum": combine("sum", "bb", 1n),
    };
    for (const [name, change] of Object.entries(changes)) {
      test(`fail after ${name}`, async ({ engine }) => {
        const since = await commit(engine, write(set("c", 1)));
        await commit(engine, write(change));
        await commit(engine, write(set("z", 1)));
        assert.deepEqual(await applied(engine, inRange(since, set("x", 1))), [false]);
        assert.equal(await engine.get(k("x")), undefined);
      });
    }

    test("see the earlier writes of their group, and not their own", async ({ engine }) => {
      const since = await commit(engine, write(set("b", 1)));
      const outcomes = await applied(
        engine,
        inRange(since, set("c", 1), set("b", 2)),
        inRange(since, set("x", 1)),
        write([check("b", null)], set("c", 9)),
        { ...inRange(since, set("y", 1)), rangeChecks: [checkOf(bToD, since)] },
      );
      assert.deepEqual(outcomes, [true, false, false, false]);
    });

    test("all have to hold, together with the checks of keys", async ({ engine }) => {
      const since = await commit(engine, write(set("a", 1), set("b", 1)));
      const ofC = keyRange({ start: ["c"], end: ["d"] });
      await commit(engine, write(set("c", 1)));
      const both = (a: RangeCheck, b: RangeCheck): AtomicWrite => ({
        ...write([check("a", since)], set("x", 1)),
        rangeChecks: [a, b],
      });
      const ofB = keyRange({ start: ["b"], end: ["c"] });
      const [holds, fails] = [checkOf(ofB, since), checkOf(ofC, since)];
      assert.deepEqual(await applied(engine, both(holds, fails), both(fails, holds)), [
        false,
        false,
      ]);
      assert.deepEqual(
        await applied(
          engine,
          { ...both(holds, holds), checks: [check("a", null)] },
          both(holds, holds),
        ),
        [false, true],
      );
    });

    test("have the versionstamp of a view", async ({ engine }) => {
      await commit(engine, write(set("b", 1)));
      const view = await engine.openView!();
      const since = view.versionstamp!;
      assert.match(since, /^[0-9a-f]{20}$/);
      assert.deepEqual(await applied(engine, inRange(since, set("x", 1))), [true]);
      await commit(engine, write(set("c", 1)));
      assert.deepEqual(await applied(engine, inRange(since, set("x", 2))), [false]);
      view.close();
      const next = await engine.openView!();
      assert.deepEqual(await applied(engine, inRange(next.versionstamp!, set("x", 3))), [true]);
      next.close();
    });

    test("have the versionstamp of a view that waits for its first read", async ({ engine }) => {
      await commit(engine, write(set("a", 1)));
      const view = await engine.openView!({ atFirstRead: true });
      await view.get(k("b"));
      await commit(engine, write(set("c", 1)));
      const since = view.versionstamp!;
      view.close();
      assert.deepEqual(await applied(engine, inRange(since, set("x", 1))), [false]);
    });

    test("work at the beginning of a database", async ({ engine }) => {
      const view = await engine.openView!();
      const since = view.versionstamp!;
      view.close();
      assert.deepEqual(
        await applied(engine, inRange(since, set("b", 1)), inRange(since, set("c", 1))),
        [true, false],
      );
    });

    test("do not count that an entry expires or is removed afterwards", async ({ engine }) => {
      const expireAt = Date.now() + 60;
      const since = await commit(engine, write(set("b", 1, { expireAt })));
      await until(expireAt + 40);
      assert.deepEqual(await applied(engine, inRange(since, set("x", 1))), [true]);
      await commit(engine, write({ type: "deleteExpired", key: k("b") }));
      assert.deepEqual(await applied(engine, inRange(since, set("x", 1))), [true]);
      const withKey = { ...inRange(since, set("x", 2)), checks: [check("b", since)] };
      assert.deepEqual(await applied(engine, withKey), [false]);
    });

    test("find one key among many of one commit", async ({ engine }) => {
      const names = Array.from({ length: 100 }, (_, i) => `n${String((i * 37) % 100)}`);
      const since = await commit(engine, write(set("b", 1)));
      await commit(engine, write(...names.map((name) => set(name, 1))));
      const of = (start: string, end: string) => keyRange({ start: [start], end: [end] });
      const at = (range: KeyRange) => applied(engine, inRange(since, set("x", 1), range));
      assert.deepEqual(await at(of("n5", "n50")), [false]);
      assert.deepEqual(await at(of("n500", "n51")), [true]);
      assert.deepEqual(await at(of("n0", "n01")), [false]);
      assert.deepEqual(await at(of("m", "n")), [true]);
      assert.deepEqual(await at(of("n99", "o")), [false]);
      assert.deepEqual(await at(of("n991", "o")), [true]);
      assert.deepEqual(await at(keyRange({ prefix: [] })), [false]);
    });

    test("let one of many writers that read the same range win", async ({ engine }) => {
      await commit(engine, write(set("a", 1)));
      const view = await engine.openView!();
      const since = view.versionstamp!;
      view.close();
      const names = Array.from({ length: 16 }, (_, i) => `c${i}`);
      const outcomes = await applied(engine, ...names.map((name) => inRange(since, set(name, 1))));
      assert.deepEqual(
        outcomes,
        names.map((_, i) => i === 0),
      );
    });

    test("fail, or are right, with a versionstamp from before the last opening", async (store) => {
      const since = await commit(store.engine, write(set("a", 1)));
      await commit(store.engine, write(set("c", 1)));
      const engine = await store.reopen();
      assert.deepEqual(await applied(engine, inRange(since, set("x", 1))), [false]);
      await commit(engine, write(set("y", 1)));
      assert.deepEqual(await applied(engine, inRange(since, set("x", 1))), [false]);
    });

    test("refuse a versionstamp that no commit has", async ({ engine }) => {
      await commit(engine, write(set("a", 1)));
      const [outcome, other] = await engine.commit([
        inRange("f".repeat(20), set("x", 1)),
        write(set("y", 1)),
      ]);
      assert.equal((outcome as { code?: string } | null)?.code, "KW_VERSIONSTAMP_INVALID");
      assert.equal(typeof other, "string");
      assert.equal(await engine.get(k("x")), undefined);
    });
  },
};

/** Returns a write of mutations if no key of a range has changed since a versionstamp. */
function inRange(
  versionstamp: string,
  mutation: StoredMutation,
  ...rest: (StoredMutation | KeyRange)[]
): AtomicWrite {
  const range = rest.find((each): each is KeyRange => "start" in each) ?? bToD;
  const mutations = rest.filter((each): each is StoredMutation => "type" in each);
  return {
    ...write(mutation, ...mutations),
    rangeChecks: [checkOf(range, versionstamp)],
  };
}

function checkOf(range: KeyRange, versionstamp: string): RangeCheck {
  return { range, versionstamp };
}
