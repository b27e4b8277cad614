import assert from "node:assert/strict";
import { nextTurn } from "#platform";
import type { Engine } from "../../../engine/engine.js";
import { MemoryEngine } from "../../../engine/memory/memory-engine.js";
import { DatabaseMovedError, MoveUnfinishedError } from "../../../errors/copy-errors.js";
import { isKeywrightError } from "../../../errors/keywright-error.js";
import type { EmbeddedKv } from "../../../kv/embedded-kv.js";
import { moveKv, undoMove } from "../../../kv/move/move-kv.js";
import { openKv } from "../../../kv/open-kv.js";
import { KvU64 } from "../../../values/kv-u64.js";
import type { EngineTestGroup } from "../engine-adapter.js";

const week = { keep: "7 days" } as const;
const writers = 4;
const rows = 100;

export const moveTests: EngineTestGroup = {
  name: "moves",
  define(addTest) {
    const test: typeof addTest = (name, body) => addTest(name, body, ["log", "views"]);

    test("lose no commit of programs that write", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const target = lasting();
      const sum = await moveWhileWriting(kv, target);
      await assert.rejects(kv.get(["count"]), DatabaseMovedError);
      const moved = await openKv(target);
      await assertMoved(moved, sum);
      await moved.close();
    });

    test("come from another engine without losing a commit", async ({ engine, reopen }) => {
      const source = await openKv(":memory:", { log: week });
      const sum = await moveWhileWriting(source, engine);
      await source.close();
      const moved = await openKv(await reopen(), { log: week });
      await assertMoved(moved, sum);
      // It accepts commits, and is moved again.
      await moved.set(["after"], 1);
      const target = lasting();
      await moveKv(moved, target);
      await using last = await openKv(target);
      await assertMoved(last, sum);
      assert.equal((await last.get(["after"])).value, 1);
    });

    test("can be undone", async ({ engine, reopen }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a"], 1);
      assert.equal(await undoMove(kv), false);
      await moveKv(kv, lasting(), { to: "elsewhere" });
      await assert.rejects(kv.set(["a"], 2), { code: "KW_DATABASE_MOVED", to: "elsewhere" });
      await kv.close();
      await assert.rejects(openKv(await reopen()), { code: "KW_DATABASE_MOVED", to: "elsewhere" });
      const moved = await openKv(await reopen(), { allowMoved: true });
      assert.equal((await moved.get(["a"])).value, 1);
      await assert.rejects(moved.set(["a"], 2), DatabaseMovedError);
      assert.equal(await undoMove(moved), true);
      await moved.set(["a"], 2);
      await moved.close();
      const again = await openKv(await reopen());
      assert.equal((await again.get(["a"])).value, 2);
    });

    test("that were aborted leave a database that only a move opens", async (store) => {
      await using source = await openKv(":memory:", { log: week });
      await Promise.all(Array.from({ length: rows }, (_, n) => source.set(["row", n], n)));
      await source.set(["a"], 1);
      const aborting = new AbortController();
      const moving = moveKv(source, store.engine, {
        signal: aborting.signal,
        onProgress: ({ phase }) => phase === "switching" && aborting.abort(new Error("enough")),
      });
      await assert.rejects(moving, /enough/);
      await source.set(["a"], 2);
      await assert.rejects(openKv(await store.reopen()), MoveUnfinishedError);
      const { resumed } = await moveKv(source, await store.reopen());
      assert.equal(resumed, true);
      const moved = await openKv(await store.reopen());
      assert.equal((await moved.get(["a"])).value, 2);
      assert.equal((await moved.get(["row", rows - 1])).value, rows - 1);
    });
  },
};

/** Returns an engine in memory that keeps what it has when it is closed. */
function lasting(): Engine {
  const engine = new MemoryEngine();
  engine.close = async () => undefined;
  return engine;
}

/** Moves a database while programs write. Returns how many commits they were told of. */
async function moveWhileWriting(source: EmbeddedKv, target: Engine): Promise<number> {
  await Promise.all(Array.from({ length: rows }, (_, n) => source.set(["row", n], n)));
  await source.set(["expires"], 1, { expireIn: 3_600_000 });
  await source.enqueue("message", { delay: 3_600_000 });
  const counting = Array.from({ length: writers }, (_, n) => countUntilMoved(source, n));
  const { entries, compared } = await moveKv(source, target, { to: "the target" });
  const counts = await Promise.all(counting);
  assert.ok(entries >= rows + 2 && compared >= rows + 2);
  return counts.reduce((sum, n) => sum + n, 0);
}

/** Counts commits until the database was moved, and returns their number. */
async function countUntilMoved(kv: EmbeddedKv, writer: number): Promise<number> {
  for (let n = 0; ; ) {
    try {
      const { ok } = await kv.atomic().sum(["count"], 1n).set(["last", writer], n).commit();
      assert.ok(ok);
      n++;
    } catch (error) {
      if (error instanceof DatabaseMovedError) {
        assert.equal(error.to, "the target");
        return n;
      }
      if (!isKeywrightError(error) || error.code !== "KW_DATABASE_MOVING") throw error;
    }
    // Some engines leave no time for others.
    await nextTurn();
  }
}

async function assertMoved(kv: EmbeddedKv, sum: number): Promise<void> {
  assert.deepEqual((await kv.get(["count"])).value, new KvU64(BigInt(sum)));
  let last = 0;
  for await (const { value } of kv.list<number>({ prefix: ["last"] })) last += value + 1;
  assert.equal(last, sum);
  for (const n of [0, rows - 1]) assert.equal((await kv.get(["row", n])).value, n);
  const { value, expireAt } = (await kv.get(["expires"])) as { value: unknown; expireAt?: number };
  assert.equal(value, 1);
  assert.ok(expireAt !== undefined && expireAt > Date.now());
}
