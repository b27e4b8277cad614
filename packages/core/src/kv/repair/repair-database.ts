import { copyFile, mkdir, open, readdir, realpath, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileCorruption } from "../../engine/level/files/file-corruption.js";
import { verifyDatabaseFiles } from "../../engine/level/files/verify-database-files.js";
import { countLostCommits } from "../../engine/level/repair/count-lost-commits.js";
import { cutLogs } from "../../engine/level/repair/cut-logs.js";
import { findLogCuts, type LogCuts } from "../../engine/level/repair/find-log-cuts.js";
import { lastVersionstampOf } from "../../engine/level/repair/last-versionstamp-of.js";
import { syncPath } from "../../engine/level/sync-path.js";
import type { Progress } from "../../engine/progress.js";
import {
  DatabaseNotFoundError,
  DatabasePathError,
  EngineFailedError,
  InvalidOptionError,
} from "../../errors/core-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";
import { lockDatabase } from "./lock-database.js";

/** Options of {@link repairDatabase}. Exactly one of them is required. */
export interface RepairOptions {
  /** The folder of the repaired copy. It must not exist. The database itself stays as it is. */
  readonly to?: string | undefined;
  /** True to change the database itself. */
  readonly inPlace?: boolean | undefined;
  readonly onProgress?: ((progress: Progress<"checking">) => void) | undefined;
}

/** The result of {@link repairDatabase}. */
export interface RepairReport {
  /** The real path of the folder of the repaired database. */
  readonly path: string;
  /** The logs whose ends were cut off, with the numbers of bytes that were kept. */
  readonly cuts: readonly { readonly file: string; readonly size: number }[];
  /**
   * The number of commits that are missing at least. More are missing if the end of the last log
   * was lost as a whole, or if it is not known how many commits were written together.
   */
  readonly lostCommits: number;
  /** The versionstamp of the last commit that is left. All commits up to it are there. */
  readonly lastVersionstamp: string;
}

/**
 * Cuts a closed LevelDB database back to its last commit before which no commit is missing. A power
 * failure may make this necessary if commits were made with `durability: "relaxed"`. It is not
 * noticed if this process has the folder open as an abstract-level database of the caller.
 *
 * ```ts
 * const { lostCommits } = await repairDatabase("./data", { to: "./data-repaired" });
 * ```
 *
 * @throws {InvalidOptionError} if not exactly one of `to` and `inPlace` is set.
 * @throws {DatabaseNotFoundError} if there is no database at the path.
 * @throws {DatabaseLockedError} if the database is open.
 * @throws {DatabasePathError} if the folder of the copy exists.
 * @throws {CorruptionError} if files other than the logs are damaged. Nothing is repaired then.
 * @throws {EngineFailedError} if the disk is full or fails. The repair can then be repeated.
 */
export async function repairDatabase(path: string, options: RepairOptions): Promise<RepairReport> {
  if ((options.to === undefined) !== (options.inPlace === true))
    throw new InvalidOptionError("to", "or inPlace is required, and not both", "repairDatabase");
  const source = await databaseFolder(path);
  try {
    return await repair(source, options);
  } catch (error) {
    throw isKeywrightError(error) ? error : new EngineFailedError(error, "repair", source);
  }
}

async function repair(source: string, options: RepairOptions): Promise<RepairReport> {
  const release = await lockDatabase(source);
  let target = source;
  let found: LogCuts;
  try {
    await assertOnlyLogsDamaged(source, options.onProgress);
    found = await findLogCuts(source);
    if (options.to === undefined) await cutLogs(source, found.cuts);
    else {
      target = await makeFolder(resolve(options.to));
      await copyDatabase(source, target, found);
    }
  } catch (error) {
    // So that the repair can be repeated.
    if (target !== source) await rm(target, { recursive: true, force: true });
    throw error;
  } finally {
    await release();
  }
  const lastVersionstamp = await lastVersionstampOf(target);
  // A record that was cut off contains at least one commit.
  const lostCommits = Math.max(
    countLostCommits(found.lost, lastVersionstamp),
    Math.min(found.cuts.length, 1),
  );
  return { path: target, cuts: found.cuts, lostCommits, lastVersionstamp };
}

async function databaseFolder(path: string): Promise<string> {
  const location = resolve(path);
  const names = await readdir(location).catch((): string[] => []);
  if (!names.includes("CURRENT")) throw new DatabaseNotFoundError(location);
  return await realpath(location);
}

async function assertOnlyLogsDamaged(
  folder: string,
  onProgress: RepairOptions["onProgress"],
): Promise<void> {
  const { damages } = await verifyDatabaseFiles(folder, onProgress);
  const [first, ...others] = damages.filter(({ file }) => !file.endsWith(".log"));
  if (first !== undefined) throw fileCorruption([first, ...others], folder);
}

async function makeFolder(path: string): Promise<string> {
  try {
    await mkdir(path);
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "EEXIST" ? "the folder exists" : "the folder cannot be created";
    throw new DatabasePathError(path, reason, error);
  }
}

/** Copies a database with cut logs. `CURRENT` is last. Without it, the copy is not a database. */
async function copyDatabase(source: string, target: string, { cuts }: LogCuts): Promise<void> {
  const isCopied = (name: string) => /^(\d+\.(log|ldb|sst)|MANIFEST-\d+)$/.test(name);
  const names = (await readdir(source)).filter(isCopied);
  for (const name of names) {
    await copySynced(join(source, name), join(target, name));
  }
  await cutLogs(target, cuts);
  await copySynced(join(source, "CURRENT"), join(target, "CURRENT"));
  if (process.platform === "win32") return;
  await syncPath(target);
  await syncPath(dirname(target));
}

async function copySynced(source: string, target: string): Promise<void> {
  await copyFile(source, target);
  const copy = await open(target, "r+");
  try {
    await copy.sync();
  } finally {
    await copy.close();
  }
}
