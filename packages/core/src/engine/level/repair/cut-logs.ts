import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { closedMarkName } from "../files/closed-mark.js";
import { syncPath } from "../sync-path.js";
import type { LogCut } from "./find-log-cuts.js";

/**
 * Cuts logs off. The last file is cut first, and the sizes that the database had when it was closed
 * are forgotten last. So if this is stopped, the database is still refused, and the next repair
 * continues.
 */
export async function cutLogs(folder: string, cuts: readonly LogCut[]): Promise<void> {
  for (const { file, size } of cuts.toReversed()) {
    const log = await open(join(folder, file), "a+");
    try {
      await log.truncate(size);
      await log.sync();
    } finally {
      await log.close();
    }
  }
  await rm(join(folder, closedMarkName), { force: true });
  if (process.platform !== "win32") await syncPath(folder);
}
