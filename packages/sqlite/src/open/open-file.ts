import { mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseFormatError, DatabaseNotFoundError, DatabasePathError } from "@keywright/core";
import type { SqliteDriver } from "../driver/sqlite-driver.js";
import type { SqliteFailures } from "../errors/sqlite-failure.js";
import { unknownKeys } from "../file/changed-keys.js";
import { FileConnection } from "../file/file-connection.js";
import { emptyHead, encodeHead } from "../file/head.js";
import { applicationId, createTables, formatVersion } from "../file/tables.js";

/** How a file is opened. */
export interface OpenFile {
  readonly driver: SqliteDriver;
  readonly failures: SqliteFailures;
  readonly path: string;
  readonly busyTimeout: number;
}

/** The log is copied into the file when it has so many pages of 4,096 bytes. */
const logPages = 4000;
/** The pages that are kept in memory. The default of SQLite is 2 MiB. */
const cacheBytes = 32 * 1024 * 1024;

/**
 * Milliseconds between two attempts to lock a file. The longest pause is short, because a process
 * that commits all the time leaves the file free only for {@link turnOfOthers} between two commits.
 */
const shortestPause = 1;
const longestPause = 5;
/** Milliseconds in which a process does not commit again if others have committed lately. */
export const turnOfOthers: number = 4;

/**
 * Opens the database in a file for reads and writes. Creates the file, or the tables in an empty
 * file, if they are missing.
 *
 * @throws {DatabaseNotFoundError} if there is no database and none may be created.
 * @throws {DatabasePathError} if the path is a folder, or if the file has several names.
 * @throws {DatabaseFormatError} if the file is another program's, or has a later format.
 */
export async function openToWrite(
  file: OpenFile,
  createIfMissing: boolean,
): Promise<FileConnection> {
  const isMissing = (await sizeOf(file.path)) === 0;
  if (isMissing) {
    if (!createIfMissing) throw new DatabaseNotFoundError(file.path);
    await mkdir(dirname(file.path), { recursive: true });
  }
  const connection = connect(file, false);
  try {
    await whenFree(file, () => prepare(connection, file.path, createIfMissing));
    if (isMissing) await syncFolder(dirname(file.path));
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Opens one more connection, on which only reads are made. */
export function connectToRead(file: OpenFile): FileConnection {
  return connect(file, true);
}

/**
 * Verifies the file behind a connection.
 *
 * @throws {DatabaseFormatError} if the file is another program's, or has a later format.
 */
export function assertOurs(connection: FileConnection): void {
  if (connection.value("PRAGMA application_id") !== applicationId)
    throw new DatabaseFormatError("it is an SQLite file of another program");
  const version = connection.value("PRAGMA user_version");
  if (version !== formatVersion)
    throw new DatabaseFormatError(`the file has the unknown format ${String(version)}`);
}

/** Returns 0 if there is no file. */
export async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found?.isDirectory())
    throw new DatabasePathError(path, "a folder is in the way, and this database is a file");
  if (found !== undefined && found.nlink > 1)
    throw new DatabasePathError(
      path,
      `the file has ${found.nlink} names (hard links), and SQLite would keep a log for each. Copy it to a file of its own, or remove the other names`,
    );
  return found?.size ?? 0;
}

/**
 * Repeats a call while other connections have locks that it needs.
 *
 * @throws {EngineUnavailableError} after the deadline.
 */
export async function whenFree<T>(
  { failures, busyTimeout }: Pick<OpenFile, "failures" | "busyTimeout">,
  attempt: () => T,
): Promise<T> {
  const since = performance.now();
  for (let pause = shortestPause; ; pause = Math.min(2 * pause, longestPause)) {
    try {
      return attempt();
    } catch (error) {
      if (!failures.isBusy(error)) throw error;
      const waited = performance.now() - since;
      if (waited >= busyTimeout) throw failures.unavailable(Math.round(waited), error);
      // Of random length, so that processes do not keep the same order.
      await sleep(Math.min(pause * (0.5 + Math.random()), busyTimeout - waited + 1));
    }
  }
}

function connect({ driver, failures, path }: OpenFile, readOnly: boolean): FileConnection {
  const connection = driver.open(path, { readOnly });
  try {
    return new FileConnection(connection, failures);
  } catch (error) {
    connection.close();
    throw error;
  }
}

function prepare(connection: FileConnection, path: string, createIfMissing: boolean): void {
  connection.rollback();
  if (isEmpty(connection)) {
    if (!createIfMissing) throw new DatabaseNotFoundError(path);
    // Another process may create the tables at the same time.
    connection.beginImmediate();
    if (isEmpty(connection)) create(connection);
    connection.commit();
  }
  assertOurs(connection);
  const mode = connection.value("PRAGMA journal_mode = WAL");
  if (mode !== "wal")
    throw new DatabasePathError(path, "SQLite cannot keep a log (WAL) next to the file there");
  connection.run(`PRAGMA wal_autocheckpoint = ${logPages}`);
  connection.run(`PRAGMA cache_size = -${cacheBytes / 1024}`);
  // A disk of macOS keeps what it has confirmed only with this.
  connection.run("PRAGMA fullfsync = ON");
  connection.run("PRAGMA checkpoint_fullfsync = ON");
}

function isEmpty(connection: FileConnection): boolean {
  const hasTables = connection.value("SELECT 1 FROM sqlite_master LIMIT 1") !== undefined;
  return !hasTables && connection.value("PRAGMA application_id") === 0;
}

function create(connection: FileConnection): void {
  for (const statement of createTables) connection.run(statement);
  connection.run(
    "INSERT INTO commits VALUES (?, ?, ?)",
    emptyHead.sequence,
    encodeHead(emptyHead),
    unknownKeys,
  );
  connection.run(`PRAGMA application_id = ${applicationId}`);
  connection.run(`PRAGMA user_version = ${formatVersion}`);
}

async function syncFolder(folder: string): Promise<void> {
  // Windows cannot sync a folder.
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
