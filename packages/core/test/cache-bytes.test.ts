import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openWithLogs } from "../src/engine/level/open-with-logs.js";
import { type OpenKvOptions, openKv } from "../src/index.js";
import { defaultCacheBytes } from "../src/kv/open/level/default-cache-bytes.js";

const mebibyte = 2 ** 20;

describe("the cache of LevelDB", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "keywright-cache-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Returns the bytes that LevelDB has in memory after all entries were read. */
  async function memoryAfterReads(cacheBytes: number | undefined): Promise<number> {
    const level = await openWithLogs(folder, [], { createIfMissing: false, cacheBytes });
    try {
      for await (const _ of level.iterator({ fillCache: true }));
      return Number(level.getProperty("leveldb.approximate-memory-usage"));
    } finally {
      await level.close();
    }
  }

  it("has the size of the option cacheBytes", async () => {
    const level = await openWithLogs(folder, [], { createIfMissing: true });
    const value = Buffer.alloc(4096, "compressible ");
    for (let n = 0; n < 8000; n += 500) {
      const batch = level.batch();
      for (let key = n; key < n + 500; key++) batch.put(Buffer.from(`${key}`), value);
      await batch.write();
    }
    await level.compactRange(Buffer.from(""), Buffer.from("~"));
    await level.close();
    const small = await memoryAfterReads(mebibyte);
    const usual = await memoryAfterReads(undefined);
    const large = await memoryAfterReads(24 * mebibyte);
    expect(small).toBeLessThan(2 * mebibyte);
    expect(usual).toBeGreaterThan(6 * mebibyte);
    expect(usual).toBeLessThan(9 * mebibyte);
    expect(large).toBeGreaterThan(20 * mebibyte);
  });

  it("takes 1/128 of the memory, from 8 to 64 MiB", () => {
    const sizes = [0.25, 1, 4, 8, 512].map((gibibytes) => defaultCacheBytes(gibibytes * 2 ** 30));
    expect(sizes.map((size) => size / mebibyte)).toEqual([8, 8, 32, 64, 64]);
    expect(defaultCacheBytes()).toBeGreaterThanOrEqual(8 * mebibyte);
  });

  it.each([-1, 1.5, "8", 2 ** 32, Number.NaN])("cannot have %j bytes", async (cacheBytes) => {
    const options = { cacheBytes } as OpenKvOptions;
    await expect(openKv(folder, options)).rejects.toMatchObject({
      code: "KW_OPTION_INVALID",
      option: "cacheBytes",
    });
  });
});
