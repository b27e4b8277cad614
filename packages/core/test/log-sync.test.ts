import { appendFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LogSync } from "../src/engine/level/log-sync.js";
import { openKv } from "../src/kv/open-kv.js";
import { withFolder } from "./temporary-folder.js";

// The campaign with power cuts (reliability/power) tests that the files are on disk.
describe("the sync of log files", () => {
  it("is needed for the first batch, and for the first one of each log file", async () => {
    await withFolder(async (folder) => {
      const first = join(folder, "000999.log");
      const second = join(folder, "001000.log");
      const logSync = new LogSync(folder);
      const isSyncedAfterBatch = async (log: string): Promise<boolean> => {
        logSync.beforeBatch(true);
        await appendFile(log, "a batch");
        const syncing = logSync.afterBatch();
        await syncing;
        return syncing !== undefined;
      };
      expect(await isSyncedAfterBatch(first)).toBe(true);
      expect(await isSyncedAfterBatch(first)).toBe(false);
      expect(await isSyncedAfterBatch(second)).toBe(true);
      expect(await isSyncedAfterBatch(second)).toBe(false);
      await rm(first);
      expect(await isSyncedAfterBatch(second)).toBe(false);
      logSync.close();
    });
  });

  it("notices a log file that an unsynced batch has started", async () => {
    await withFolder(async (folder) => {
      const [first, second] = [join(folder, "000003.log"), join(folder, "000005.log")];
      const logSync = new LogSync(folder);
      logSync.beforeBatch(true);
      await writeFile(first, "synced");
      await logSync.afterBatch();
      logSync.beforeBatch(false);
      await appendFile(first, "unsynced");
      await writeFile(second, "unsynced");
      logSync.beforeBatch(true);
      await appendFile(second, "synced");
      const syncing = logSync.afterBatch();
      expect(syncing).toBeInstanceOf(Promise);
      await syncing;
      logSync.close();
    });
  });

  it("fails the commit if the folder is gone", async () => {
    await withFolder(async (folder) => {
      const path = join(folder, "kv");
      await using kv = await openKv(path);
      await rm(path, { recursive: true });
      await expect(kv.set(["a"], 1)).rejects.toMatchObject({ code: "KW_ENGINE_FAILED" });
    });
  });
});
