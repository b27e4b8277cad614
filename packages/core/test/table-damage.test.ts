import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareBytes } from "../src/bytes/compare-bytes.js";
import { readLogRecords } from "../src/engine/level/files/log-records.js";
import { readManifest } from "../src/engine/level/files/manifest.js";
import { blockEntries } from "../src/engine/level/files/table-block.js";
import { tableDamage } from "../src/engine/level/files/table-damage.js";
import { filesOf, putRows, rowKey, withLevel } from "./level-folder.js";

/** A table that LevelDB has written, with about 15 blocks. */
async function tableOfLevel(): Promise<Uint8Array> {
  return await withLevel(
    (level) => putRows(level, 400),
    async (folder) => {
      const [[, table] = []] = await filesOf(folder, ".ldb");
      return table!;
    },
  );
}

describe("the tables of LevelDB", () => {
  it("are intact after LevelDB has written them, and have the size and keys of the manifest", async () => {
    await withLevel(
      async (level) => {
        // The second compaction merges tables, and divides what it writes.
        await putRows(level, 20_000);
        await putRows(level, 20_000, 10_000);
      },
      async (folder) => {
        const [[, manifestBytes] = []] = await filesOf(folder, "MANIFEST");
        const { records, damagedAt } = readLogRecords(manifestBytes!);
        expect(damagedAt).toBeUndefined();
        const { tables } = readManifest(records);
        const files = await filesOf(folder, ".ldb");
        expect(files.length).toBeGreaterThan(1);
        for (const [name, bytes] of files) {
          const bounds = tables.get(Number.parseInt(name, 10));
          expect(bounds?.size).toBe(bytes.length);
          expect(tableDamage(name, bytes, bounds)).toEqual([]);
        }
        const keys = [...tables.values()].map((table) => table.firstKey).sort(compareBytes);
        expect(keys[0]).toEqual(rowKey(0));
      },
    );
  });

  it("are damaged if a bit of them is flipped", async () => {
    const table = await tableOfLevel();
    const padding = table.length - 48 + 8;
    const bits = fc
      .nat(table.length * 8 - 1)
      .filter((bit) => bit >> 3 < padding || bit >> 3 >= table.length - 8);
    fc.assert(
      fc.property(bits, (bit) => {
        const damaged = Uint8Array.from(table);
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        expect(tableDamage("000005.ldb", damaged)).not.toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("name the keys that damaged blocks may hide", async () => {
    const table = await tableOfLevel();
    for (const [from, to] of [
      [0.3, 0.3],
      [0.4, 0.6],
    ] as const) {
      const damaged = Uint8Array.from(table);
      damaged.fill(0xa5, Math.floor(table.length * from), Math.floor(table.length * to) + 8);
      const [found, ...others] = tableDamage("000005.ldb", damaged);
      expect(others).toEqual([]);
      expect(found).toMatchObject({ file: "000005.ldb", offset: expect.any(Number) });
      const keys = Array.from({ length: 400 }, (_, n) => rowKey(n));
      const position = (key: Uint8Array) => keys.findIndex((one) => compareBytes(one, key) === 0);
      const first = position(found!.firstKey!);
      const last = position(found!.lastKey!);
      expect(first).toBeGreaterThan(50);
      expect(last).toBeGreaterThan(first + 5);
      expect(last).toBeLessThan(300);
    }
  });

  it("name the keys of the manifest if the whole table is unreadable", async () => {
    const table = await tableOfLevel();
    const bounds = { size: table.length, firstKey: rowKey(0), lastKey: rowKey(399) };
    const keys = { firstKey: rowKey(0), lastKey: rowKey(399) };
    expect(tableDamage("a", table.subarray(0, 5000), bounds)).toMatchObject([{ ...keys }]);
    expect(tableDamage("a", new Uint8Array(table.length), bounds)).toMatchObject([{ ...keys }]);
    expect(tableDamage("a", new Uint8Array(3))).toMatchObject([{ offset: 0 }]);
    const indexGone = Uint8Array.from(table).fill(0, table.length - 100, table.length - 60);
    expect(tableDamage("a", indexGone, bounds)).toMatchObject([{ ...keys }]);
  });

  it("are never taken for intact if they are random bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300, size: "max" }), (bytes) => {
        expect(tableDamage("a", bytes)).toHaveLength(1);
        try {
          Array.from(blockEntries(bytes, { offset: 0, size: bytes.length - 1 }));
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });

  it.each([
    ["a key of 2 GiB", `80808080080100${"00".repeat(12)}00`],
    ["1 GiB that is compressed", `8080808004${"00".repeat(9)}01`],
  ])("take no memory for %s that they do not have", (_name, hex) => {
    const bytes = Uint8Array.from(Buffer.from(hex, "hex"));
    const before = process.memoryUsage().arrayBuffers;
    const block = { offset: 0, size: bytes.length - 1 };
    expect(() => Array.from(blockEntries(bytes, block))).toThrow(RangeError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  });
});
