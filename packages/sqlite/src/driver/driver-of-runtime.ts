import { InvalidOptionError } from "@keywright/core";
import { betterSqlite3Driver } from "./better-sqlite3.js";
import { bunSqliteDriver } from "./bun-sqlite.js";
import { nodeSqliteDriver } from "./node-sqlite.js";
import type { SqliteDriver } from "./sqlite-driver.js";

/** The drivers that are part of this package, in the order in which they are tried. */
const drivers: Readonly<Record<string, (module: never) => SqliteDriver>> = {
  "bun:sqlite": bunSqliteDriver,
  "node:sqlite": nodeSqliteDriver,
  "better-sqlite3": betterSqlite3Driver,
};

/** The names of the drivers, which are those of the modules that they import. */
export const driverNames: readonly string[] = Object.keys(drivers);

/**
 * Returns the first driver whose module this runtime has.
 *
 * @param name the only driver that may be returned.
 * @throws {InvalidOptionError} if the runtime has none.
 */
export async function driverOfRuntime(name?: string): Promise<SqliteDriver> {
  const names = name === undefined ? driverNames : [name];
  let cause: unknown;
  for (const each of names) {
    try {
      // Bundlers leave this import alone, because only some runtimes have the module.
      const module: unknown = await import(/* webpackIgnore: true */ /* @vite-ignore */ each);
      return drivers[each]!(module as never);
    } catch (error) {
      cause = error;
    }
  }
  const reason = `is needed: this runtime cannot load ${names.join(", ")}. Use Node.js 22.13 or later, Deno or Bun, or install better-sqlite3 (version 12 for Node.js 20)`;
  throw Object.assign(new InvalidOptionError("driver", reason, "sqliteEngine"), { cause });
}
