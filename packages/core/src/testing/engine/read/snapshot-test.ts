import assert from "node:assert/strict";
import { nextTurn } from "#platform";
import type { Engine, StoredEntry, StoredMutation } from "../../../engine/engine.js";
import type { EngineTestStore } from "../engine-adapter.js";
import { commit, firstBytes, k, stampsOf, v, write } from "../writes.js";

const keys = Array.from({ length: 100 }, (_, i) => k("counter", i));

/**
 * Returns a test that reads 100 entries repeatedly, while commits set all of them. Fails if a read
 * returns entries of different commits.
 */
export function snapshotTest(
  read: (engine: Engine, keys: readonly Uint8Array[]) => Promise<(StoredEntry | undefined)[]>,
): (store: EngineTestStore) => Promise<void> {
  return async ({ engine }) => {
    const setAll = (n: number) =>
      write(...keys.map((key): StoredMutation => ({ type: "set", key, value: v(n) })));
    await commit(engine, setAll(0));
    let isWriting = true;
    let reads = 0;
    const writeAll = async () => {
      for (let n = 1; n <= 100; n++) await commit(engine, { ...setAll(n), sync: false });
      isWriting = false;
    };
    const readAll = async () => {
      for (; isWriting; reads++) {
        const entries = await read(engine, keys);
        assert.equal(entries.length, keys.length);
        assert.equal(new Set(firstBytes(entries)).size, 1);
        assert.equal(new Set(stampsOf(entries)).size, 1);
        // Reads that are answered synchronously would otherwise starve the writer.
        await nextTurn();
      }
    };
    await Promise.all([writeAll(), readAll()]);
    assert.ok(reads > 0);
  };
}
