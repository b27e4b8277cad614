import assert from "node:assert/strict";
import type { StoredMutation } from "../../../engine/engine.js";
import type { EngineTestGroup } from "../engine-adapter.js";
import { applied, commit, firstBytes, k, list, set, stampsOf, v, write } from "../writes.js";

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
      for (const next of [async () => engine, reopen]) {
        const open = await next();
        const entries = await open.getMany([hint, message, k("a")]);
        assert.deepEqual(firstBytes(entries), [3, 4, 1]);
        assert.deepEqual(stampsOf(entries), [stamp, stamp, stamp]);
      }
    });

    test("are deleted like other keys", async ({ engine }) => {
      const stamp = await commit(engine, storeAll);
      const remove: StoredMutation = { type: "delete", key: message };
      const checked = write([{ key: message, versionstamp: stamp }], remove);
      assert.deepEqual(await applied(engine, checked, checked), [true, false]);
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
          const found = firstBytes(await list(engine, range, 10, reverse));
          assert.deepEqual(found, reverse ? expected.toReversed() : expected, String(start));
        }
      }
    });
  },
};
