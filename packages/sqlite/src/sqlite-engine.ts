import { resolve } from "node:path";
import { DatabaseNotFoundError, type Engine } from "@keywright/core";
import { isCreationAllowed } from "@keywright/core/engine";
import { driverOfRuntime } from "./driver/driver-of-runtime.js";
import type { SqliteDriver } from "./driver/sqlite-driver.js";
import { SqliteFailures } from "./errors/sqlite-failure.js";
import type { FileConnection } from "./file/file-connection.js";
import { FileEngine } from "./file-engine.js";
import { copyToRead } from "./open/copy-to-read.js";
import { assertOurs, connectToRead, type OpenFile, openToWrite, sizeOf } from "./open/open-file.js";
import { assertOptions, type SqliteOptions } from "./open/sqlite-options.js";

const defaultBusyTimeout = 10_000;

/**
 * Opens the database in an SQLite file, for `openKv`, and creates the file if it does not exist.
 * Several processes can have the file open at the same time. `kv.close()` closes it.
 *
 * ```ts
 * const kv = await openKv(await sqliteEngine({ path: "./data.sqlite" }));
 * ```
 *
 * @throws {InvalidOptionError} if an option is not valid, or if the runtime has no SQLite.
 * @throws {DatabaseNotFoundError} if there is no file and none may be created.
 * @throws {DatabasePathError} if there cannot be a file at the path.
 * @throws {DatabaseFormatError} if the file is another program's, or has a later format.
 * @throws {CorruptionError} if the file is damaged.
 * @throws {EngineUnavailableError} if another process has locked the file for too long.
 */
export async function sqliteEngine(options: SqliteOptions): Promise<Engine> {
  assertOptions(options);
  const { busyTimeout = defaultBusyTimeout, checkEntries: checksEntries = true } = options;
  const { createIfMissing = true, readOnly: isReadOnly = false } = options;
  const driver = await driverOf(options);
  const path = resolve(options.path);
  const failures = new SqliteFailures(driver, path);
  const file = { driver, failures, path, busyTimeout };
  try {
    const opened = isReadOnly
      ? await openToRead(file)
      : await opening(file, createIfMissing && isCreationAllowed());
    try {
      const { connection, onClosed } = opened;
      return await FileEngine.open(opened.file, connection, {
        isReadOnly,
        checksEntries,
        onClosed,
      });
    } catch (error) {
      opened.connection.close();
      await opened.onClosed();
      throw error;
    }
  } catch (error) {
    throw failures.ofOpening(error);
  }
}

interface OpenedFile {
  readonly file: OpenFile;
  readonly connection: FileConnection;
  readonly onClosed: () => Promise<void>;
}

async function driverOf({ driver }: SqliteOptions): Promise<SqliteDriver> {
  return typeof driver === "object" ? driver : await driverOfRuntime(driver);
}

async function opening(file: OpenFile, createIfMissing: boolean): Promise<OpenedFile> {
  const connection = await openToWrite(file, createIfMissing);
  return { file, connection, onClosed: async () => undefined };
}

/** Opens the file for reads, or a copy of it if SQLite cannot lock a file in its folder. */
async function openToRead(file: OpenFile): Promise<OpenedFile> {
  if ((await sizeOf(file.path)) === 0) throw new DatabaseNotFoundError(file.path);
  try {
    const connection = connectToRead(file);
    try {
      connection.reading(() => assertOurs(connection));
      return { file, connection, onClosed: async () => undefined };
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    if (!file.failures.isUnwritable(causeOf(error))) throw error;
  }
  const { path, remove } = await copyToRead(file.path);
  const copy = { ...file, path };
  try {
    return { file: copy, connection: await openToWrite(copy, false), onClosed: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function causeOf(error: unknown): unknown {
  return (error as { readonly cause?: unknown }).cause ?? error;
}
