import {
  CorruptionError,
  DatabaseFormatError,
  DatabasePathError,
  EngineFailedError,
  EngineUnavailableError,
  isKeywrightError,
} from "@keywright/core";
import type { SqliteDriver } from "../driver/sqlite-driver.js";

/** Result codes of SQLite, of which the extended ones have them in their low byte. */
const busy = 5;
const readOnly = 8;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const lockingProtocol = 15;
const notADatabase = 26;

const damagedPage = "SQLite found a damaged page";

/** Says what the errors of a driver mean. */
export class SqliteFailures {
  readonly #driver: SqliteDriver;
  readonly #path: string;

  constructor(driver: SqliteDriver, path: string) {
    this.#driver = driver;
    this.#path = path;
  }

  /** True if another connection has a lock for a while. */
  isBusy(error: unknown): boolean {
    const code = this.#codeOf(error);
    return code === busy || code === lockingProtocol;
  }

  /** True if nothing can be written at the path. */
  isUnwritable(error: unknown): boolean {
    const code = this.#codeOf(error);
    return code === readOnly || code === cannotOpen;
  }

  /** Returns the error of calls that have waited for another connection for too long. */
  unavailable(waited: number, cause: unknown): EngineUnavailableError {
    return new EngineUnavailableError(
      `another connection has locked ${this.#path} for ${waited} ms`,
      "Repeat the call, and find the program that keeps a transaction open.",
      cause,
      "The file of the database",
    );
  }

  /** Converts the error of a failed read. */
  ofRead(error: unknown, key?: Uint8Array): Error {
    if (isKeywrightError(error)) return error;
    const code = this.#codeOf(error);
    if (code === corrupt || code === notADatabase)
      return new CorruptionError(damagedPage, key, error, this.#path);
    return new EngineFailedError(error, "read");
  }

  /** Returns the cause of a failed commit, with the code of the system if the disk is full. */
  ofCommit(error: unknown): unknown {
    if (this.#codeOf(error) !== full) return error;
    const cause = new Error(`No space left on device: ${this.#path}`, { cause: error });
    return Object.assign(cause, { code: "ENOSPC" });
  }

  /** Converts the error of a failed attempt to open the file. */
  ofOpening(error: unknown): Error {
    const path = this.#path;
    if (error instanceof DatabaseFormatError) return new DatabaseFormatError(error.reason, path);
    if (error instanceof CorruptionError)
      return new CorruptionError(error.reason, error.key, error.cause, path, error);
    if (isKeywrightError(error)) return error;
    const code = this.#codeOf(error);
    if (code === notADatabase)
      return new DatabaseFormatError("it is no SQLite file, or its first page is damaged", path);
    if (code === corrupt) return new CorruptionError(damagedPage, undefined, error, path);
    const { syscall } = error as NodeJS.ErrnoException;
    if (code === readOnly || code === cannotOpen || syscall !== undefined)
      return new DatabasePathError(path, (error as Error).message, error);
    return new EngineFailedError(error, "open", path);
  }

  #codeOf(error: unknown): number | undefined {
    const code = this.#driver.codeOf(error);
    return code === undefined ? undefined : code & 0xff;
  }
}
