import assert from "node:assert/strict";
import type { AtomicWrite, Engine, StoredEntry } from "../../engine/engine.js";
import { commit } from "./writes.js";

/** Calls `read` repeatedly while `commits` writes are committed one after another. */
export async function besideCommits(
  engine: Engine,
  commits: number,
  writeOf: (n: number) => AtomicWrite,
  read: () => Promise<void>,
): Promise<void> {
  let isWriting = true;
  const writer = (async () => {
    for (let n = 1; n <= commits; n++) await commit(engine, { ...writeOf(n % 250), sync: false });
    isWriting = false;
  })();
  let reads = 0;
  const reader = (async () => {
    for (; isWriting; reads++) {
      await read();
      // Reads that are answered synchronously would otherwise starve the writer.
      await new Promise(setImmediate);
    }
  })();
  await Promise.all([writer, reader]);
  assert.ok(reads > 0);
}

/** Fails unless there are `count` entries, all of the same commit. */
export function assertOneState(entries: readonly (StoredEntry | undefined)[], count: number): void {
  assert.equal(entries.length, count);
  assert.equal(new Set(entries.map((entry) => entry?.value[0])).size, 1);
  assert.equal(new Set(entries.map((entry) => entry?.versionstamp)).size, 1);
}
