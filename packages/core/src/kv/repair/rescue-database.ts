import { mkdtemp, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { FileDamage } from "../../engine/files/file-report.js";
import type { DatabaseMode } from "../../engine/level/database-header.js";
import { NewestWrites } from "../../engine/level/repair/newest-writes.js";
import { dataFiles, isDataFile } from "../../engine/level/repair/readable-files.js";
import { syncPath } from "../../engine/level/sync-path.js";
import type { Progress } from "../../engine/progress.js";
import {
  DatabaseNotFoundError,
  DatabasePathError,
  EngineFailedError,
} from "../../errors/core-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";
import type { EmbeddedKv } from "../embedded-kv.js";
import { openKv } from "../open-kv.js";
import { lockDatabase } from "./lock-database.js";
import { modeOfWrites } from "./mode-of-writes.js";
import { type ReadReport, readAllWrites } from "./read-all-writes.js";
import { writeRescued } from "./write-rescued.js";

/** Options of {@link rescueDatabase}. */
export interface RescueOptions {
  /** The folder of the new database. It must not exist. */
  readonly to: string;
  /**
   * Called with the new database before it is moved to its folder, for example to repair indexes.
   * If it fails, nothing is left.
   */
  readonly complete?: ((kv: EmbeddedKv) => Promise<unknown>) | undefined;
  /** Called after each file that was read. */
  readonly onProgress?: ((progress: Progress<"reading">) => void) | undefined;
}

/** The result of {@link rescueDatabase}. */
export interface RescueReport {
  /** The real path of the folder of the new database. */
  readonly path: string;
  readonly entries: number;
  /**
   * The places whose content is lost, with the range of its keys. Without keys, any entry may be
   * affected. An entry in such a range may be missing, may have an earlier value, or may have been
   * deleted before. All other entries have their last value. Empty if nothing is lost.
   */
  readonly damages: readonly FileDamage[];
  /** The number of commits that are missing at least, among those that only the logs hold. */
  readonly lostCommits: number;
}

/**
 * Rescues what can be read of a closed LevelDB database whose files are damaged, and writes it into
 * a new database. The damaged database stays as it is.
 *
 * The new database assigns its own versionstamps, in the order of those of the damaged one. Entries
 * that were written together may be rescued in part. So indexes of models have to be repaired:
 * `keywright repair --rescue` does both.
 *
 * ```ts
 * const { entries, damages } = await rescueDatabase("./data", { to: "./data-rescued" });
 * ```
 *
 * @throws {DatabaseNotFoundError} if there are no files of a database at the path.
 * @throws {DatabaseLockedError} if the database is open.
 * @throws {DatabasePathError} if the folder of the new database exists or cannot be created.
 * @throws {DatabaseFormatError} if the data has a later format.
 * @throws {EngineFailedError} if a file cannot be read or written, for example on a full disk.
 */
export async function rescueDatabase(path: string, options: RescueOptions): Promise<RescueReport> {
  const source = await folderOf(path);
  const target = resolve(options.to);
  await assertMissing(target);
  const release = await lockDatabase(source);
  try {
    const work = await workFolder(target);
    try {
      const report = await rescueInto(join(work, "database"), work, source, options);
      await rename(join(work, "database"), target).catch((error: unknown) => {
        throw new DatabasePathError(target, "the folder cannot be created", error);
      });
      if (process.platform !== "win32") await syncPath(dirname(target));
      return { path: await realpath(target), ...report };
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  } finally {
    await release();
  }
}

async function rescueInto(
  folder: string,
  work: string,
  source: string,
  { complete, onProgress }: RescueOptions,
): Promise<Omit<RescueReport, "path">> {
  const newest = new NewestWrites(join(work, "writes"));
  await newest.open();
  let report: ReadReport;
  let mode: DatabaseMode;
  let entries: number;
  try {
    report = await readAllWrites(source, await dataFiles(source), newest, onProgress);
    mode = await modeOfWrites(newest);
    entries = await writeRescued(folder, mode, newest);
  } catch (error) {
    throw isKeywrightError(error) ? error : new EngineFailedError(error, "read", source);
  } finally {
    await newest.close();
  }
  // Opening the database also checks its files, and closing it syncs them.
  await using kv = await openKv(folder, { compat: mode === "deno" ? "deno" : undefined });
  await complete?.(kv);
  return { entries, ...report };
}

async function folderOf(path: string): Promise<string> {
  const location = resolve(path);
  const names = await readdir(location).catch((): string[] => []);
  if (!names.some(isDataFile)) throw new DatabaseNotFoundError(location);
  return await realpath(location);
}

async function assertMissing(target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (found !== undefined) throw new DatabasePathError(target, "the folder exists", undefined);
}

/** Creates a folder next to the target, because a folder cannot be moved to another disk. */
async function workFolder(target: string): Promise<string> {
  try {
    return await mkdtemp(`${target}-rescue-`);
  } catch (error) {
    throw new DatabasePathError(target, "the folder cannot be created", error);
  }
}
