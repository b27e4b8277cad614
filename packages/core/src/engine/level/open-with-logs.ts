import { randomInt } from "node:crypto";
import { copyFile, link, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ClassicLevel } from "classic-level";
import { EngineFailedError } from "../../errors/core-errors.js";
import { CheckingLevel } from "./checking-level.js";
import { type CommitRecord, decodeCommitRecord, encodeCommitRecord } from "./commit-record.js";
import type { LogFile } from "./files/database-files.js";
import { readLogRecords } from "./files/log-records.js";
import { linkErrors } from "./link-errors.js";
import { readBatch } from "./repair/read-batch.js";
import { syncPath } from "./sync-path.js";

type Level = ClassicLevel<Uint8Array, Uint8Array>;

/** How LevelDB opens a folder. */
export interface ClassicLevelOptions {
  readonly createIfMissing: boolean;
  /** The size of the cache of blocks in bytes. The default of classic-level is 8 MiB. */
  readonly cacheBytes?: number | undefined;
}

/** A name that LevelDB does not know: that of the log and a random number. */
const savedName = /^(\d+)\.log\.saved-\d+$/;

/**
 * LevelDB writes a table when its log has this many bytes. See `docs/adr/0004-commit-records.md`:
 * a larger log makes loading faster, and opening after a crash slower.
 */
const writeBufferSize = 8 * 1024 * 1024;

const encodings = { keyEncoding: "view", valueEncoding: "view" } as const;

/**
 * Opens the LevelDB database in a folder, and keeps its logs until it is open. If LevelDB cannot
 * open or read a log, for example because the process can open no more files, it ignores the error,
 * continues without the commits in this log, and deletes it. So each log gets a second name until
 * its last commit is found in the open database.
 *
 * If a commit is not found, the database is closed, and the log gets the number of a new one, so
 * that LevelDB reads it the next time. This also happens to a log that a process has kept that was
 * killed while it opened the database.
 *
 * @throws {EngineFailedError} if LevelDB has not read a log. Nothing is lost.
 * @throws the error of classic-level if the database cannot be opened.
 */
export async function openWithLogs(
  folder: string,
  logs: readonly LogFile[],
  options: ClassicLevelOptions,
): Promise<Level> {
  const saved = await saveLogs(folder, logs);
  const { createIfMissing, cacheBytes } = options;
  const level = new CheckingLevel(folder, {
    ...encodings,
    createIfMissing,
    writeBufferSize,
    ...(cacheBytes !== undefined && { cacheSize: cacheBytes }),
  }) as Level;
  try {
    await level.open();
  } catch (error) {
    await removeFiles(folder, [...saved.keys()]).catch(() => undefined);
    throw error;
  }
  try {
    await verifyLogs(level, saved);
    return level;
  } catch (error) {
    await level.close();
    throw error;
  }
}

/** Returns the last commit of each log that has one, by the second name of the log. */
async function saveLogs(
  folder: string,
  logs: readonly LogFile[],
): Promise<ReadonlyMap<string, CommitRecord>> {
  const saved = new Map<string, CommitRecord>();
  for (const { name, lastRecord } of logs) {
    const commit = lastRecord && commitOf(lastRecord);
    if (commit === undefined) continue;
    const second = `${name}.saved-${randomInt(1, 2 ** 47)}`;
    if (await linkOrCopy(join(folder, name), join(folder, second))) saved.set(second, commit);
  }
  return saved;
}

async function verifyLogs(level: Level, own: ReadonlyMap<string, CommitRecord>): Promise<void> {
  const folder = level.location;
  const lost: string[] = [];
  const found: string[] = [];
  for (const name of (await readdir(folder)).filter((each) => savedName.test(each))) {
    const commit = own.get(name) ?? (await lastCommitOf(join(folder, name)));
    if (commit === undefined || (await hasCommit(level, commit))) found.push(name);
    else lost.push(name);
  }
  await removeFiles(folder, found);
  if (lost.length === 0) return;
  await level.close();
  await restoreLogs(folder, lost);
  const cause = new Error(`LevelDB has not read its log ${lost.map(logOf).join(", ")}`);
  throw new EngineFailedError(cause, "open", folder);
}

/** True if a commit, or a later one in its place, is in the database. */
async function hasCommit(level: Level, commit: CommitRecord): Promise<boolean> {
  const { key } = encodeCommitRecord(commit);
  const stored = await level.get(key);
  return stored !== undefined && decodeCommitRecord(key, stored).last >= commit.last;
}

/**
 * Gives logs numbers after those of all files. LevelDB reads them in the order of their numbers.
 */
async function restoreLogs(folder: string, saved: readonly string[]): Promise<void> {
  let last = Math.max(...(await readdir(folder)).map(numberOf));
  for (const name of saved.toSorted((a, b) => numberOf(a) - numberOf(b)))
    await rename(join(folder, name), join(folder, `${String(++last).padStart(6, "0")}.log`));
  if (process.platform !== "win32") await syncPath(folder);
}

/**
 * Returns undefined if there is no commit, or no file: a process that could not open the database
 * at the same time has removed its own.
 */
async function lastCommitOf(path: string): Promise<CommitRecord | undefined> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  });
  const last = bytes && readLogRecords(bytes).records.at(-1);
  return last && commitOf(last);
}

/** Returns undefined if a record of a log has no commit. The first ones of a database have none. */
function commitOf(record: Uint8Array): CommitRecord | undefined {
  try {
    return readBatch(record).commit;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns false if the log is gone, because another process has opened the database since. */
async function linkOrCopy(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
      if (!linkErrors.includes(error.code!)) throw error;
      await copyFile(from, to);
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function removeFiles(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(folder, name), { force: true });
}

function logOf(saved: string): string {
  return saved.replace(/\.saved-\d+$/, "");
}

/** The first number in the name of a file of LevelDB, such as `000003.log` or `MANIFEST-000002`. */
function numberOf(name: string): number {
  return Number(/\d+/.exec(name)?.[0] ?? 0);
}
