import assert from "node:assert/strict";
import type { StoredMutation } from "../../engine/engine.js";
import type { EngineTestGroup } from "./engine-adapter.js";
import { commit, k, set, v, write } from "./writes.js";

/** System keys of the database: `00 03` begins an expiry hint, `00 04` a message of the queue. */
const hint = Uint8Array.of(0, 3, 1);
const message = Uint8Array.of(0, 4, 1);

export const systemKeyTests: EngineTestGroup = {
  name: "keys that begin with a zero byte",
  define(test) {
    const storeAll = write(
      { type: "set", key: hint, value: v(3) },
      { type: "set", key: message, value: v(4) },
      set("a", 1),
    );

    test("are read and checked like other keys", async ({ engine, reopen }) => {
      const stamp = await commit(engine, storeAll);
      for (const open of [engine, await reopen()]) {
        const entries = await open.getMany([hint, message, k("a")]);
        assert.deepEqual(
          entries.map((entry) => [entry?.value[0], entry?.versionstamp]),
          [
            [3, stamp],
            [4, stamp],
            [1, stamp],
          ],
        );
      }
    });

    test("are deleted like other keys", async ({ engine }) => {
      const stamp = await commit(engine, storeAll);
      const remove: StoredMutation = { type: "delete", key: message };
      const checks = [{ key: message, versionstamp: stamp }];
      const outcomes = await engine.commit([
        { checks, mutations: [remove], sync: true },
        { checks, mutations: [remove], sync: true },
      ]);
      assert.deepEqual(
        outcomes.map((outcome) => typeof outcome),
        ["string", "object"],
      );
      assert.equal(await engine.get(message), undefined);
    });

    test("are in a range only if it begins among them", async ({ engine }) => {
      await commit(engine, storeAll);
      const end = Uint8Array.of(0xff);
      const ranges: [start: number[], end: Uint8Array, expected: number[]][] = [
        [[], end, [1]],
        [[0], end, [1]],
        [[0, 2], end, [1]],
        [[1], end, [1]],
        [[0, 3], Uint8Array.of(0, 4), [3]],
        [[0, 4], Uint8Array.of(0, 5), [4]],
        [[0, 3], Uint8Array.of(0, 5), [3, 4]],
        [[0, 5], Uint8Array.of(1), []],
      ];
      for (const [start, upTo, expected] of ranges) {
        const range = { start: Uint8Array.from(start), end: upTo };
        for (const reverse of [false, true]) {
          const entries = await engine.getRange({ range, limit: 10, reverse });
          const found = entries.map((entry) => entry.value[0]);
          assert.deepEqual(found, reverse ? expected.toReversed() : expected, String(start));
        }
      }
    });
  },
};
