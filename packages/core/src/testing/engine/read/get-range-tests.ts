import assert from "node:assert/strict";
import type { Engine, StoredEntry, StoredMutation } from "../../../engine/engine.js";
import { type KvListSelector, keyRange } from "../../../keys/key-range.js";
import type { EngineTestGroup } from "../engine-adapter.js";
import { commit, firstBytes, k, list, plain, set, write } from "../writes.js";
import { snapshotTest } from "./snapshot-test.js";

const fiveLetters = write(set("a", 1), set("b", 2), set("c", 3), set("d", 4), set("e", 5));

export const getRangeTests: EngineTestGroup = {
  name: "getRange",
  define(test) {
    const range = async (engine: Engine, selector: KvListSelector, limit = 1000, reverse = false) =>
      firstBytes(await list(engine, keyRange(selector), limit, reverse));

    test("reads in order from start, inclusive, to end, exclusive", async ({ engine }) => {
      await commit(engine, fiveLetters);
      assert.deepEqual(await range(engine, { start: ["b"], end: ["d"] }), [2, 3]);
      assert.deepEqual(await range(engine, { start: ["b"], end: ["d"] }, 1000, true), [3, 2]);
      assert.deepEqual(await range(engine, { start: ["aa"], end: ["cc"] }), [2, 3]);
      assert.deepEqual(await range(engine, { start: ["aa"], end: ["cc"] }, 1000, true), [3, 2]);
    });

    test("reads at most as many entries as the limit, from either end", async ({ engine }) => {
      await commit(engine, fiveLetters);
      const all: KvListSelector = { prefix: [] };
      assert.deepEqual(await range(engine, all, 1), [1]);
      assert.deepEqual(await range(engine, all, 2), [1, 2]);
      assert.deepEqual(await range(engine, all, 5), [1, 2, 3, 4, 5]);
      assert.deepEqual(await range(engine, all, 6), [1, 2, 3, 4, 5]);
      assert.deepEqual(await range(engine, all, 2, true), [5, 4]);
      assert.deepEqual(await range(engine, all, 6, true), [5, 4, 3, 2, 1]);
    });

    test("reads nothing from an empty range or an empty database", async ({ engine }) => {
      assert.deepEqual(await range(engine, { prefix: [] }), []);
      await commit(engine, fiveLetters);
      const empty: [start: (string | Uint8Array)[], end: (string | Uint8Array)[]][] = [
        [["b"], ["b"]],
        [["bb"], ["bc"]],
        [["x"], ["y"]],
        [[], []],
        [[], [new Uint8Array(0)]],
      ];
      for (const reverse of [false, true]) {
        for (const [start, end] of empty) {
          assert.deepEqual(await range(engine, { start, end }, 10, reverse), []);
        }
      }
    });

    test("reads several ranges from one snapshot, to their limits, if it can", async ({
      engine,
    }) => {
      if (engine.getRanges === undefined) return;
      await commit(engine, fiveLetters);
      const read = (start: string, end: string, limit: number, reverse = false) => {
        return { range: keyRange({ start: [start], end: [end] }), limit, reverse };
      };
      const ranges = await engine.getRanges([
        read("a", "c", 10),
        read("b", "z", 2, true),
        read("x", "z", 1),
      ]);
      assert.deepEqual(ranges.map(firstBytes), [[1, 2], [5, 4], []]);
      // More bytes than one read of a range returns.
      const large = new Uint8Array(1024 * 1024);
      for (let n = 0; n < 10; n++)
        await commit(engine, write({ type: "set", key: k("l", n), value: large }));
      const [all] = await engine.getRanges([
        { ...read("l", "m", 20), range: keyRange({ prefix: ["l"] }) },
      ]);
      assert.equal(all?.length, 10);
      for (let n = 0; n < 20; n++) {
        const reading = engine.getRanges([read("a", "b", 1), read("e", "f", 1)]);
        const writing = commit(engine, write(set("a", n), set("e", n)));
        const [[a], [e]] = (await reading) as [StoredEntry[], StoredEntry[]];
        assert.equal(a?.versionstamp, e?.versionstamp);
        await writing;
      }
    });

    test("returns none of the engine's own records", async ({ engine }) => {
      await commit(engine, fiveLetters);
      await commit(engine, write(set("f", 6)));
      const everything = { start: new Uint8Array(0), end: Uint8Array.of(0xff) };
      for (const reverse of [false, true]) {
        assert.equal((await list(engine, everything, 1000, reverse)).length, 6);
      }
    });

    test("returns each entry with its key and versionstamp", async ({ engine }) => {
      const first = await commit(engine, write(set("a", 1)));
      const second = await commit(engine, write(set("b", 2)));
      assert.deepEqual((await list(engine)).map(plain), [
        { key: [...k("a")], value: [1], versionstamp: first },
        { key: [...k("b")], value: [2], versionstamp: second },
      ]);
    });

    test("reads megabytes at once, in either direction", async ({ engine }) => {
      const value = new Uint8Array(20_000);
      const mutations = Array.from(
        { length: 150 },
        (_, i): StoredMutation => ({ type: "set", key: k("big", i), value }),
      );
      // Not in one write, because engines limit its size.
      for (const mutation of mutations) await commit(engine, write(mutation));
      const keys = mutations.map(({ key }) => [...key]);
      for (const reverse of [false, true]) {
        const entries = await list(engine, keyRange({ prefix: ["big"] }), 150, reverse);
        const found = entries.map((entry) => [...entry.key]);
        assert.deepEqual(found, reverse ? keys.toReversed() : keys);
        assert.ok(entries.every((entry) => entry.value.length === value.length));
      }
    });

    test(
      "reads from one snapshot during commits",
      snapshotTest((engine) => list(engine, keyRange({ prefix: ["counter"] }))),
    );
  },
};
