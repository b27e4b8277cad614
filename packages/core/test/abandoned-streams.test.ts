import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { type EmbeddedKv, openKv } from "../src/index.js";
import { watchStream } from "../src/kv/watch/watch-stream.js";
import { garbageCollector } from "./javascript-engine.js";

const collect = garbageCollector();

/** Collects what nothing refers to, until a condition holds. Tries it five times. */
async function collectUntil(condition: () => boolean): Promise<boolean> {
  for (let attempt = 0; attempt < 5; attempt++) {
    if (condition()) return true;
    // What `deref` has returned is kept until the end of the turn.
    await nextTurn();
    collect();
    await nextTurn();
  }
  return condition();
}

const streams: [string, (kv: EmbeddedKv) => ReadableStream<unknown>][] = [
  ["watch", (kv) => kv.watch([["a"]])],
  ["watchRange", (kv) => kv.watchRange([{ prefix: ["a"] }])],
];

for (const compat of [undefined, "deno"] as const) {
  it.each(streams)(
    `a stream of %s that was abandoned is collected, compat: ${compat}`,
    async (_name, watch) => {
      await using kv = await openKv(":memory:", { compat });
      const abandoned = async () => {
        const stream = watch(kv);
        const reader = stream.getReader();
        const read = reader.read();
        await kv.set(["a", 1], 1);
        await kv.set(["a"], 1);
        await read;
        return [new WeakRef(stream), new WeakRef(watch(kv))];
      };
      const references = await abandoned();
      expect(await collectUntil(() => references.every((each) => each.deref() === undefined))).toBe(
        true,
      );
      await kv.set(["a"], 2);
    },
  );

  it.each(streams)(
    `a stream of %s with a pending read is not collected, compat: ${compat}`,
    async (name, watch) => {
      await using kv = await openKv(":memory:", { compat });
      const pending = async () => {
        const reader = watch(kv).getReader();
        // The first report of a watch is the current state.
        if (name === "watch") await reader.read();
        return [reader.read()];
      };
      const [read] = await pending();
      await collectUntil(() => false);
      await kv.set(["a", 1], 1);
      await kv.set(["a"], 1);
      expect(await read).toMatchObject({ done: false });
    },
  );
}

it("the subscription of an abandoned stream ends", async () => {
  let subscriptions = 0;
  const open = new Set<{ end(): void }>();
  const source = {
    read: () => Promise.resolve([]),
    subscribe: () => {
      subscriptions++;
      return () => {
        subscriptions--;
      };
    },
    open,
  };
  watchStream(source, false);
  expect([subscriptions, open.size]).toEqual([1, 1]);
  expect(await collectUntil(() => subscriptions === 0)).toBe(true);
  expect(open.size).toBe(0);
});

it("no finalizer is called for a stream that has ended", async () => {
  const Registry = globalThis.FinalizationRegistry;
  let calls = 0;
  class CountingRegistry<T> extends Registry<T> {
    constructor(callback: (held: T) => void) {
      super((held) => {
        calls++;
        callback(held);
      });
    }
  }
  vi.stubGlobal("FinalizationRegistry", CountingRegistry);
  vi.resetModules();
  try {
    const { openKv: openCounting } = await import("../src/index.js");
    const kv = await openCounting();
    const ended = async () => {
      const cancelled = kv.watch([["a"]]);
      await cancelled.cancel();
      const closed = kv.watchRange([{ prefix: ["a"] }]);
      await kv.close();
      return [new WeakRef(cancelled), new WeakRef(closed)];
    };
    const references = await ended();
    expect(await collectUntil(() => references.every((each) => each.deref() === undefined))).toBe(
      true,
    );
    // Finalizers are called in a later turn than the collection.
    await collectUntil(() => false);
    expect(calls).toBe(0);

    // The registry counts: a stream that was abandoned has a finalizer.
    await using other = await openCounting();
    other.watch([["a"]]);
    expect(await collectUntil(() => calls > 0)).toBe(true);
  } finally {
    vi.unstubAllGlobals();
    vi.resetModules();
  }
});
