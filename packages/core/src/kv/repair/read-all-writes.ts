import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { FileDamage } from "../../engine/files/file-report.js";
import type { NewestWrites } from "../../engine/level/repair/newest-writes.js";
import type { Batch } from "../../engine/level/repair/read-batch.js";
import { type DataFiles, readDataFile } from "../../engine/level/repair/readable-files.js";
import { type Progress, ProgressMeter } from "../../engine/progress.js";
import { sequenceOfVersionstamp } from "../../values/versionstamp.js";

/** The damage that was found while all files were read. */
export interface ReadReport {
  readonly damages: readonly FileDamage[];
  readonly lostCommits: number;
}

/** Adds the writes of all files to `newest`. */
export async function readAllWrites(
  folder: string,
  { files, damages: missing }: DataFiles,
  newest: NewestWrites,
  onProgress: (progress: Progress<"reading">) => void = () => undefined,
): Promise<ReadReport> {
  const sizes = await Promise.all(
    files.map(
      async ({ name }) => (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0,
    ),
  );
  const bytesTotal = sizes.reduce((sum, size) => sum + size, 0);
  const damages = [...missing];
  const meter = new ProgressMeter(onProgress);
  meter.begin("reading");
  let last: Batch | undefined;
  let bytes = 0;
  let lostCommits = 0;
  for (const [i, file] of files.entries()) {
    const read = await readDataFile(folder, file);
    await newest.add(read.writes);
    damages.push(...read.damages);
    for (const batch of read.batches) {
      lostCommits += commitsBetween(last, batch);
      last = batch;
    }
    bytes += sizes[i]!;
    meter.advance(bytes, bytesTotal);
  }
  const isLogDamaged = damages.some(({ file }) => file.endsWith(".log"));
  return { damages, lostCommits: Math.max(lostCommits, isLogDamaged ? 1 : 0) };
}

/** The number of groups of commits that are missing between two batches. */
function commitsBetween(before: Batch | undefined, { commit }: Batch): number {
  if (before?.commit === undefined || commit === undefined) return 0;
  const { last } = before.commit;
  const between = sequenceOfVersionstamp(commit.previous) - sequenceOfVersionstamp(last);
  return Math.max(between, 0);
}
