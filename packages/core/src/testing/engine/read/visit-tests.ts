import assert from "node:assert/strict";
import type {
  Engine,
  KeyList,
  RangeRead,
  RangesRead,
  ReadView,
  StoredMutation,
  VisitedEntry,
} from "../../../engine/engine.js";
import { visitMany, visitRange } from "../../../engine/read/visit-entries.js";
import { visitRanges } from "../../../engine/read/visit-ranges.js";
import { type KeyRange, keyRange } from "../../../keys/key-range.js";
import { versionstampBytes, writeVersionstamp } from "../../../values/versionstamp.js";
import type { EngineTestGroup } from "../engine-adapter.js";
import { commit, del, k, plain, set, v, write } from "../writes.js";
import { snapshotTest } from "./snapshot-test.js";

const all: KeyRange = keyRange({ prefix: [] });

export const visitTests: EngineTestGroup = {
  name: "visitRange, visitMany and visitRanges",
  define(test) {
    test("visit the entries that getRange returns", async ({ engine }) => {
      await commit(engine, write(set("a", 1), set("b", 2), set("c", 3, { expireAt: 1 })));
      await commit(engine, write(set("d", 4), set("e", 5, { expireAt: 5e12 }), del("b")));
      for (const reverse of [false, true]) {
        for (const limit of [1, 2, 3, 100]) {
          for (const range of [all, keyRange({ start: ["a"], end: ["d"] })]) {
            const read = { range, limit, reverse };
            const expected = (await engine.getRange(read)).map(plain);
            assert.deepEqual((await visitedRange(engine, read)).map(plain), expected);
          }
        }
      }
    });

    test("visit the first entries of ranges, however far they lie apart", async ({ engine }) => {
      const sets: StoredMutation[] = [];
      for (let place = 0; place < 30; place++) {
        for (let n = 0; n < (place * 7) % 31; n++) {
          const expiry = n % 5 === 1 ? { expireAt: 1 } : {};
          sets.push({ type: "set", key: k(place, n), value: v(n), ...expiry });
        }
      }
      await commit(engine, write(...sets));
      for (const step of [1, 2, 9]) {
        const places = Array.from({ length: 30 }, (_, i) => i).filter((i) => i % step === 0);
        const ranges = places.map((place) => keyRange({ prefix: [place] }));
        for (const limit of [1, 3, 1000]) {
          for (const most of [1, 50, 1000]) {
            const expected: unknown[] = [];
            for (const [position, range] of ranges.entries()) {
              const entries = await engine.getRange({ range, limit, reverse: false });
              for (const entry of entries) expected.push({ position, ...plain(entry) });
            }
            const visited = await visitedRanges(engine, { ranges, limit, most });
            assert.deepEqual(visited, expected.slice(0, most));
          }
        }
      }
      assert.deepEqual(await visitedRanges(engine, { ranges: [], limit: 1, most: 1 }), []);
    });

    test("visit the entries of keys with their positions", async ({ engine }) => {
      await commit(engine, write(set("a", 1), set("b", 2), set("c", 3, { expireAt: 1 })));
      const keys = ["b", "missing", "c", "a", "b"].map((name) => k(name));
      const expected = await engine.getMany(keys);
      const visited = await visitedKeys(engine, keys);
      assert.equal(visited.length, keys.length);
      assert.deepEqual(visited.map(plain), expected.map(plain));
      assert.deepEqual(await visitedKeys(engine, []), []);
    });

    test("write the versionstamp that they have as a text", async ({ engine }) => {
      await commit(engine, write(set("a", 1)));
      await visitRange(engine, { range: all, limit: 1, reverse: false }, (entry) => {
        if (entry.writeVersionstamp === undefined) return;
        const expected = new Uint8Array(versionstampBytes + 2);
        writeVersionstamp(entry.versionstamp, expected, 1);
        const written = new Uint8Array(versionstampBytes + 2);
        entry.writeVersionstamp(written, 1);
        assert.deepEqual(written, expected);
      });
    });

    test("are done when they return if the engine visits at once", async ({ engine }) => {
      if (engine.visitsAtOnce !== true) return;
      const visit = () => undefined;
      const read = { range: all, limit: 1, reverse: false };
      assert.equal(engine.visitRange!(read, visit), undefined);
      assert.equal(engine.visitMany!({ bytes: k("a"), starts: [], ends: [] }, visit), undefined);
      assert.equal(engine.visitRanges!({ ranges: [all], limit: 1, most: 1 }, visit), undefined);
    });

    test(
      "see one state while others commit",
      snapshotTest(async (engine, keys) => {
        const end = Uint8Array.of(...keys.at(-1)!, 0);
        const range = { start: keys[0]!, end };
        const listed = await visitedRange(engine, { range, limit: keys.length, reverse: false });
        return listed.length === keys.length ? await visitedKeys(engine, keys) : listed;
      }),
    );

    test(
      "see one state in all ranges while others commit",
      snapshotTest(async (engine, keys) => {
        const ranges = keys.map((start) => ({ start, end: Uint8Array.of(...start, 0) }));
        const visited: VisitedEntry[] = [];
        const read = { ranges, limit: 1, most: keys.length };
        await visitRanges(engine, read, (_, entry) => visited.push(copyOf(entry)));
        return visited;
      }),
    );
  },
};

async function visitedRange(reads: ReadsOf, read: RangeRead): Promise<VisitedEntry[]> {
  const entries: VisitedEntry[] = [];
  await visitRange(reads, read, (entry) => entries.push(copyOf(entry)));
  return entries;
}

async function visitedRanges(engine: Engine, read: RangesRead): Promise<unknown[]> {
  const entries: unknown[] = [];
  await visitRanges(engine, read, (position, entry) =>
    entries.push({ position, ...plain(copyOf(entry)) }),
  );
  return entries;
}

async function visitedKeys(
  reads: ReadsOf,
  keys: readonly Uint8Array[],
): Promise<(VisitedEntry | undefined)[]> {
  const entries = keys.map((): VisitedEntry | undefined => undefined);
  await visitMany(reads, listOf(keys), (position, entry) => {
    entries[position] = copyOf(entry);
  });
  return entries;
}

type ReadsOf = Pick<ReadView, "getMany" | "getRange" | "visitMany" | "visitRange">;

/** The keys have a byte between them, which belongs to none. */
function listOf(keys: readonly Uint8Array[]): KeyList {
  const bytes: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  for (const key of keys) {
    bytes.push(0xff);
    starts.push(bytes.length);
    bytes.push(...key);
    ends.push(bytes.length);
  }
  return { bytes: Uint8Array.from(bytes), starts, ends };
}

function copyOf({ key, value, versionstamp, expireAt }: VisitedEntry): VisitedEntry {
  return { key: key.slice(), value: value.slice(), versionstamp, expireAt };
}
