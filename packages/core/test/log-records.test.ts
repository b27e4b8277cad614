import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readLogRecords } from "../src/engine/level/files/log-records.js";
import { filesOf, rowKey, withLevel } from "./level-folder.js";

/** A log of LevelDB with records of these sizes. */
async function logOf(sizes: readonly number[]): Promise<Uint8Array> {
  return await withLevel(
    async (level) => {
      for (const [n, size] of sizes.entries())
        await level.put(rowKey(n), new Uint8Array(size).fill(n));
    },
    async (folder) => {
      const [[, log] = []] = await filesOf(folder, ".log");
      return log!;
    },
  );
}

const sizes = [10, 40_000, 300, 32_000, 700, 10, 90_000, 20];

describe("the records of a log", () => {
  it("are those that LevelDB has written, also across blocks", async () => {
    const { records, damagedAt } = readLogRecords(await logOf(sizes));
    expect(damagedAt).toBeUndefined();
    expect(records).toHaveLength(sizes.length);
    for (const [n, size] of sizes.entries()) {
      expect(records[n]!.length).toBeGreaterThan(size);
      expect(records[n]!.at(-1)).toBe(n);
    }
  });

  it("end where the log was cut off, and nothing follows", async () => {
    const log = await logOf(sizes);
    for (let length = 0; length < log.length; length += 997) {
      const { records, isFollowed } = readLogRecords(log.subarray(0, length));
      expect(records.length).toBeLessThan(sizes.length);
      expect(isFollowed).toBe(false);
    }
  });

  it("end at a flipped bit, after which intact ones are found", async () => {
    const log = await logOf(sizes);
    const lengths = readLogRecords(log).records.map(({ length }) => length);
    expect(lengths).toHaveLength(sizes.length);
    fc.assert(
      fc.property(fc.nat(log.length * 8 - 1), (bit) => {
        const damaged = Uint8Array.from(log);
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        const { records, damagedAt, isFollowed } = readLogRecords(damaged);
        expect(damagedAt).toBeLessThanOrEqual(bit >> 3);
        expect(records.map(({ length }) => length)).toEqual(lengths.slice(0, records.length));
        expect(isFollowed).toBe(records.length < sizes.length - 1);
      }),
      { numRuns: 300 },
    );
  });

  it("end at zeros", async () => {
    const log = await logOf(sizes);
    const damaged = Uint8Array.from(log).fill(0, 41_000, 45_096);
    expect(readLogRecords(damaged)).toMatchObject({ isFollowed: true });
    const tail = Uint8Array.from(log).fill(0, log.length - 4096);
    expect(readLogRecords(tail)).toMatchObject({ isFollowed: false });
    expect(readLogRecords(new Uint8Array(5000))).toMatchObject({ damagedAt: 0, isFollowed: false });
  });
});
