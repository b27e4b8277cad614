import { describe, expect, it } from "vitest";
import { mutationsPerTurn } from "../src/engine/commit/write-group.js";
import type { AtomicWrite } from "../src/engine/engine.js";
import { MemoryEngine } from "../src/engine/memory/memory-engine.js";
import { encodeKey } from "../src/keys/encode-key.js";

const value = Uint8Array.of(1, 0xc0);
const all = { start: Uint8Array.of(0x01), end: Uint8Array.of(0xff) };

function setting(names: readonly string[]): AtomicWrite {
  const mutations = names.map((name) => ({ type: "set", key: encodeKey([name]), value }) as const);
  return { checks: [], mutations, sync: false };
}

describe("the engine in memory", () => {
  it("shows nothing of a large commit before all of it, with the versionstamp before it", async () => {
    const engine = new MemoryEngine();
    const names = Array.from({ length: mutationsPerTurn * 3 }, (_, i) => `name ${i}`);
    await engine.commit([setting(["first"])]);
    const before = engine.lastVersionstamp;
    let isDone = false;
    const committing = engine.commit([setting(names)]).then(() => {
      isDone = true;
    });
    const counts = new Set<number>();
    while (!isDone) {
      const view = engine.openView();
      const entries = await view.getRange({ range: all, limit: 1e6, reverse: false });
      const now = await engine.getRange({ range: all, limit: 1e6, reverse: false });
      expect(now).toHaveLength(entries.length);
      expect(view.versionstamp).toBe(entries.length === 1 ? before : engine.lastVersionstamp);
      expect(view.versionstamp === before).toBe(entries.length === 1);
      counts.add(entries.length);
      view.close();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await committing;
    expect(counts).toContain(1);
    expect([...counts].every((count) => count === 1 || count === names.length + 1)).toBe(true);
    await engine.close();
  });

  it("keeps nothing of the memory of a writer", async () => {
    const engine = new MemoryEngine();
    const key = encodeKey(["a"]);
    const own = { key: key.slice(), value: value.slice() };
    await engine.commit([{ checks: [], mutations: [{ type: "set", ...own }], sync: false }]);
    own.key.fill(0xee);
    own.value.fill(0xee);
    expect(engine.get(key)).toMatchObject({ key, value });
    expect(await engine.getRange({ range: all, limit: 2, reverse: false })).toMatchObject([
      { key, value },
    ]);
    await engine.close();
  });

  it("reads without waiting", async () => {
    const engine = new MemoryEngine();
    await engine.commit([setting(["a"])]);
    const key = encodeKey(["a"]);
    const view = engine.openView();
    for (const reads of [engine, view]) {
      expect(reads.get(key)).toMatchObject({ value });
      expect(reads.getMany([key, encodeKey(["b"])])).toMatchObject([{ value }, undefined]);
    }
    expect(view.getRange({ range: all, limit: 2, reverse: false })).toMatchObject([{ value }]);
    await engine.close();
  });

  it("refuses all calls after it was closed", async () => {
    const engine = new MemoryEngine();
    await engine.close();
    const closed = { code: "KW_DATABASE_CLOSED" };
    expect(() => engine.get(value)).toThrow(expect.objectContaining(closed));
    expect(() => engine.openView()).toThrow(expect.objectContaining(closed));
    await expect(engine.commit([setting(["a"])])).rejects.toMatchObject(closed);
  });
});
