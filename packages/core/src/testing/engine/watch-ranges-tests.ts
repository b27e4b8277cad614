import assert from "node:assert/strict";
import { Buffer } from "#platform";
import type { Engine, StoredEntry } from "../../engine/engine.js";
import type { KeyRange } from "../../keys/key-range.js";
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

export const watchRangesTests: EngineTestGroup = {
  name: "watchRanges",
  define(test) {
    test("reports the keys of each commit that are in its ranges", async ({ engine }) => {
      const watch = new RangeWatch(engine, range("b", "d"), range("f", "g"));
      await commitReported(engine, write(set("a", 1), set("b", 1), set("c", 1), set("d", 1)));
      await commitReported(engine, write(del("f"), set("c", 2)));
      await commitReported(engine, write(set("a", 1), set("e", 1), set("g", 1)));
      await commitReported(engine, write());
      assert.deepEqual(watch.changes, [texts("b", "c"), texts("c", "f")]);
    });

    test("reports a key that is in several ranges", async ({ engine }) => {
      const watch = new RangeWatch(engine, range("a", "c"), range("b", "d"), range("a", "c"));
      await commitReported(engine, write(set("b", 1), set("c", 1), set("b", 2)));
      assert.deepEqual(watch.changes, [texts("b", "c")]);
    });

    test("reports nothing for an empty range", async ({ engine }) => {
      const watch = new RangeWatch(engine, range("b", "b"), range("c", "a"));
      await commitReported(engine, write(set("a", 1), set("b", 1), set("c", 1)));
      assert.deepEqual(watch.changes, []);
    });

    for (const type of ["sum", "min", "max"] as const) {
      test(`reports ${type}`, async ({ engine }) => {
        const watch = new RangeWatch(engine, range("a", "b"));
        await commitReported(engine, write(combine(type, "a", 1n)));
        assert.deepEqual(watch.changes, [texts("a")]);
      });
    }

    test("reports the full key if it ends in a versionstamp", async ({ engine }) => {
      const watch = new RangeWatch(engine, range("a", "b"));
      const stamped = set("a", 1, { endsInVersionstamp: true });
      const versionstamp = await commitReported(engine, write(stamped));
      assert.deepEqual(watch.changes, [[text(k("a", versionstamp))]]);
    });

    test("reports an expired key when it is removed", async ({ engine }) => {
      await commitReported(engine, write(set("a", 1, { expireAt: Date.now() - 1 }), set("b", 1)));
      const watch = new RangeWatch(engine, range("a", "c"));
      await commitReported(engine, write(deleteExpired("a"), deleteExpired("b")));
      assert.deepEqual(watch.changes, [texts("a")]);
    });

    test("does not report a refused write", async ({ engine }) => {
      await commitReported(engine, write(set("a", 1)));
      const watch = new RangeWatch(engine, range("a", "z"));
      await engine.commit([
        write([check("a", null)], set("b", 2)),
        write(set("c", 2), combine("sum", "a", 1n)),
        write(set("d", 1)),
      ]);
      await allReported(engine);
      assert.deepEqual(watch.changes, [texts("d")]);
    });

    test("reports a commit when it can be read", async ({ engine }) => {
      const seen: Promise<StoredEntry | undefined>[] = [];
      engine.watchRanges([range("a", "b")], () => seen.push(Promise.resolve(engine.get(k("a")))));
      const first = await commitReported(engine, write(set("a", 1)));
      await Promise.all(seen);
      const second = await commitReported(engine, write(set("a", 2)));
      assert.deepEqual(stampsOf(await Promise.all(seen)), [first, second]);
    });

    test("can be ended without an effect on other watches", async ({ engine }) => {
      const first = new RangeWatch(engine, range("a", "b"));
      const second = new RangeWatch(engine, range("a", "b"));
      first.stop();
      first.stop();
      await commitReported(engine, write(set("a", 1)));
      second.stop();
      await commitReported(engine, write(set("a", 2)));
      assert.deepEqual([first.changes, second.changes], [[], [texts("a")]]);
    });

    test("reports system keys only if the range begins among them", async ({ engine }) => {
      const system = Uint8Array.of(0, 3, 1);
      const end = Uint8Array.of(0xff);
      const all = [[], [0], [0, 2], [1]].map(
        (start) => new RangeWatch(engine, { start: Uint8Array.from(start), end }),
      );
      const own = new RangeWatch(engine, { start: Uint8Array.of(0, 3), end: Uint8Array.of(0, 4) });
      await commitReported(engine, write(set("", 3, { key: system }), set("a", 1)));
      for (const watch of all) assert.deepEqual(watch.changes, [texts("a")]);
      assert.deepEqual(own.changes, [[text(system)]]);
    });
  },
};

/** Records the keys of each change that the engine reports: as hex, sorted, without duplicates. */
class RangeWatch {
  readonly changes: string[][] = [];
  readonly stop: () => void;

  constructor(engine: Engine, ...ranges: KeyRange[]) {
    this.stop = engine.watchRanges(ranges, (keys) => {
      this.changes.push([...new Set(keys?.map(text) ?? ["unknown"])].sort());
    });
  }
}

function range(start: string, end: string): KeyRange {
  return { start: k(start), end: k(end) };
}

function texts(...names: string[]): string[] {
  return names.map((name) => text(k(name)));
}

function text(key: Uint8Array): string {
  return Buffer.from(key).toString("hex");
}
