import assert from "node:assert/strict";
import type { Engine, StoredEntry } from "../../engine/engine.js";
import type { EngineTestGroup } from "./engine-adapter.js";
import {
  allReported,
  check,
  combine,
  commitReported,
  del,
  deleteExpired,
  k,
  set,
  stampsOf,
  write,
} from "./writes.js";

export const watchTests: EngineTestGroup = {
  name: "watch",
  define(test) {
    test("reports each commit that sets or deletes one of its keys", async ({ engine }) => {
      const a = count(engine, "a");
      const ab = count(engine, "a", "b");
      await commitReported(engine, write(set("a", 1)));
      assert.deepEqual([a.changes, ab.changes], [1, 1]);
      await commitReported(engine, write(set("b", 1)));
      assert.deepEqual([a.changes, ab.changes], [1, 2]);
      await commitReported(engine, write(del("a")));
      assert.deepEqual([a.changes, ab.changes], [2, 3]);
      await commitReported(engine, write(combine("sum", "b2", 1n), set("c", 1)));
      await commitReported(engine, write());
      assert.deepEqual([a.changes, ab.changes], [2, 3]);
    });

    test("reports a commit of several of its keys", async ({ engine }) => {
      const ab = count(engine, "a", "b", "a");
      await commitReported(engine, write(set("a", 1), set("b", 1), set("a", 2)));
      assert.ok(ab.changes >= 1);
    });

    test("reports sum, and the full key if it ends in a versionstamp", async ({ engine }) => {
      const a = count(engine, "a");
      await commitReported(engine, write(combine("sum", "a", 1n)));
      assert.equal(a.changes, 1);
      await commitReported(engine, write(set("a", 1, { endsInVersionstamp: true })));
      assert.equal(a.changes, 1);
    });

    test("reports an expired key when it is removed", async ({ engine }) => {
      await commitReported(engine, write(set("a", 1, { expireAt: Date.now() - 1 }), set("b", 1)));
      const a = count(engine, "a");
      const b = count(engine, "b");
      await commitReported(engine, write(deleteExpired("a"), deleteExpired("b")));
      assert.deepEqual([a.changes, b.changes], [1, 0]);
    });

    test("does not report a refused write", async ({ engine }) => {
      await commitReported(engine, write(set("a", 1)));
      const a = count(engine, "a");
      await engine.commit([
        write([check("a", null)], set("a", 2)),
        write(set("a", 2), combine("sum", "a", 1n)),
        write(set("b", 1)),
      ]);
      await allReported(engine);
      assert.equal(a.changes, 0);
    });

    test("reports a commit when it can be read", async ({ engine }) => {
      const seen: Promise<StoredEntry | undefined>[] = [];
      engine.watch([k("a")], () => seen.push(Promise.resolve(engine.get(k("a")))));
      const first = await commitReported(engine, write(set("a", 1)));
      await Promise.all(seen);
      const second = await commitReported(engine, write(set("a", 2)));
      const stamps = stampsOf(await Promise.all(seen));
      assert.deepEqual([stamps[0], stamps.at(-1)], [first, second]);
    });

    test("can be ended without an effect on other watches", async ({ engine }) => {
      const first = count(engine, "a");
      const second = count(engine, "a");
      first.stop();
      first.stop();
      await commitReported(engine, write(set("a", 1)));
      second.stop();
      await commitReported(engine, write(set("a", 2)));
      assert.deepEqual([first.changes, second.changes], [0, 1]);
    });
  },
};

function count(engine: Engine, ...names: string[]): { changes: number; stop: () => void } {
  const counted = { changes: 0, stop: () => undefined as undefined };
  const stop = engine.watch(
    names.map((name) => k(name)),
    () => {
      counted.changes++;
    },
  );
  return Object.assign(counted, { stop });
}
