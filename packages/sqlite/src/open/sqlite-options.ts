import { InvalidOptionError } from "@keywright/core";
import { driverNames } from "../driver/driver-of-runtime.js";
import type { SqliteDriver } from "../driver/sqlite-driver.js";

/** Options of `sqliteEngine`. */
export interface SqliteOptions {
  /**
   * The path of the file. SQLite keeps two more files next to it, with `-wal` and `-shm` at the end
   * of their names. All must be on a disk of this machine.
   */
  readonly path: string;
  /** Creates a missing file. The default is true. */
  readonly createIfMissing?: boolean | undefined;
  /**
   * Opens the file for reads only, which also works on a read-only file system. The default is
   * false.
   */
  readonly readOnly?: boolean | undefined;
  /**
   * How long a commit waits for the commits of other processes, in milliseconds, before it is
   * refused with `EngineUnavailableError`. The default is 10,000.
   */
  readonly busyTimeout?: number | undefined;
  /**
   * Checks all entries when the database is opened, and once a day: those of a file of up to 8 MiB
   * before it is open, those of a larger one in the background. The default is true.
   */
  readonly checkEntries?: boolean | undefined;
  /**
   * The SQLite to use, by the name of its module, or one that the program has wrapped. The default
   * is the first one that the runtime has: `bun:sqlite`, `node:sqlite`, `better-sqlite3`. A program
   * must open a file with one of them only: two copies of SQLite in a process cancel each other's
   * locks.
   */
  readonly driver?: "bun:sqlite" | "node:sqlite" | "better-sqlite3" | SqliteDriver | undefined;
}

const names: ReadonlySet<string> = new Set([
  "path",
  "createIfMissing",
  "readOnly",
  "busyTimeout",
  "checkEntries",
  "driver",
]);

/** @throws {InvalidOptionError} if an option is unknown or not valid. */
export function assertOptions(options: SqliteOptions): void {
  if (typeof options !== "object" || options === null)
    throw invalid("options", "must be an object");
  for (const name of Object.keys(options)) {
    if (!names.has(name))
      throw invalid(name, `is not an option; the options are ${[...names].join(", ")}`);
  }
  const { path, createIfMissing, readOnly, busyTimeout, checkEntries, driver } = options;
  if (typeof path !== "string" || path === "") throw invalid("path", "must be the path of a file");
  for (const [name, value] of Object.entries({ createIfMissing, readOnly, checkEntries }))
    if (value !== undefined && typeof value !== "boolean")
      throw invalid(name, "must be true or false");
  if (busyTimeout !== undefined && !(Number.isFinite(busyTimeout) && busyTimeout >= 0))
    throw invalid("busyTimeout", "must be a number of milliseconds");
  if (driver !== undefined && !isDriver(driver))
    throw invalid("driver", `must be ${driverNames.join(", ")} or an object with open and codeOf`);
}

function isDriver(driver: string | SqliteDriver): boolean {
  if (typeof driver === "string") return driverNames.includes(driver);
  return typeof driver?.open === "function" && typeof driver.codeOf === "function";
}

function invalid(option: string, reason: string): InvalidOptionError {
  return new InvalidOptionError(option, reason, "sqliteEngine");
}
