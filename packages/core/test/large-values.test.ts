import { MemoryLevel } from "memory-level";
import { describe, expect, it } from "vitest";
import { isRangeEnd, maxRangeBytes } from "../src/engine/engine.js";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import { encodeKey } from "../src/keys/encode-key.js";
import { keyRange } from "../src/keys/key-range.js";
import { openKv } from "../src/kv/open-kv.js";

const megabytes = (count: number) => "x".repeat(count * 1024 * 1024);

describe("values of megabytes", () => {
  it("are read so many at a time as have eight of them together", async () => {
    const level = new MemoryLevel({ storeEncoding: "view" });
    const engine = await LevelEngine.open(level as unknown as LevelDatabase);
    const value = new Uint8Array(maxRangeBytes / 4);
    const mutations = Array.from({ length: 6 }, (_, n) => ({
      type: "set" as const,
      key: encodeKey([n]),
      value,
    }));
    await engine.commit([{ checks: [], mutations, sync: false }]);
    const range = keyRange({ prefix: [] });
    for (const reverse of [false, true]) {
      const entries = await engine.getRange({ range, limit: 100, reverse });
      expect(entries).toHaveLength(4);
      expect(isRangeEnd(entries, 100)).toBe(false);
    }
    const rest = await engine.getRange({
      range: { start: encodeKey([4]), end: range.end },
      limit: 100,
      reverse: false,
    });
    expect([rest.length, isRangeEnd(rest, 100), isRangeEnd(rest, 2)]).toEqual([2, true, false]);
    await engine.close();
  });

  it.each([undefined, "deno"] as const)("are listed all of them, in mode %s", async (compat) => {
    const kv = await openKv(":memory:", {
      compat,
      limits: { valueBytes: 2 ** 30, totalMutationBytes: 2 ** 30 },
    });
    for (let n = 0; n < 7; n++) await kv.set([n], megabytes(3));
    for (const reverse of [false, true]) {
      const keys = [];
      for await (const { key } of kv.list({ prefix: [] }, { reverse })) keys.push(key[0]);
      expect(keys).toEqual(reverse ? [6, 5, 4, 3, 2, 1, 0] : [0, 1, 2, 3, 4, 5, 6]);
    }
    await kv.close();
  });

  it("are delivered all of them by the queue", async () => {
    const kv = await openKv();
    for (let n = 0; n < 7; n++) await kv.enqueue(`${n}${megabytes(3)}`);
    const received: string[] = [];
    await new Promise<void>((resolve) => {
      void kv.listenQueue((message: string) => {
        if (received.push(message[0]!) === 7) resolve();
      });
    });
    expect(received.sort()).toEqual(["0", "1", "2", "3", "4", "5", "6"]);
    await kv.close();
  });
});
