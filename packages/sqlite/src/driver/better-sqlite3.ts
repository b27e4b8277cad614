import type { SqliteDriver, SqliteStatement, SqliteValue } from "./sqlite-driver.js";

interface Statement {
  readonly reader: boolean;
  raw(): Statement;
  run(...parameters: SqliteValue[]): { readonly changes: number };
  get(...parameters: SqliteValue[]): SqliteValue[] | undefined;
  all(...parameters: SqliteValue[]): SqliteValue[][];
}

interface BetterSqlite3 {
  readonly default: new (
    path: string,
    options: { readonly readonly: boolean; readonly timeout: number },
  ) => { prepare(sql: string): Statement; close(): void };
}

/** The result codes that the engine distinguishes. The package reports their names. */
const codes: readonly (readonly [name: string, code: number])[] = [
  ["SQLITE_BUSY", 5],
  ["SQLITE_READONLY", 8],
  ["SQLITE_IOERR", 10],
  ["SQLITE_CORRUPT", 11],
  ["SQLITE_FULL", 13],
  ["SQLITE_CANTOPEN", 14],
  ["SQLITE_PROTOCOL", 15],
  ["SQLITE_NOTADB", 26],
];

/**
 * The driver on the package `better-sqlite3`. `sqliteEngine` finds the package by itself if it
 * is installed with the program.
 *
 * @param module what `import("better-sqlite3")` returns.
 */
export function betterSqlite3Driver(module: { readonly default: unknown }): SqliteDriver {
  const { default: Database } = module as BetterSqlite3;
  return {
    open: (path, { readOnly }) => {
      // The engine sets the timeout itself.
      const database = new Database(path, { readonly: readOnly, timeout: 0 });
      return {
        prepare: (sql) => arraysOf(database.prepare(sql)),
        close: () => database.close(),
      };
    },
    codeOf: (error) => {
      const { code } = (error ?? {}) as { readonly code?: unknown };
      if (typeof code !== "string" || !code.startsWith("SQLITE_")) return undefined;
      return codes.find(([name]) => code.startsWith(name))?.[1] ?? 1;
    },
  };
}

/** A statement that returns rows must not be run, and one that returns none must not be read. */
function arraysOf(statement: Statement): SqliteStatement {
  const reader = statement.reader ? statement.raw() : statement;
  return {
    run: (...parameters) =>
      statement.reader ? reader.all(...parameters).length : reader.run(...parameters).changes,
    get: (...parameters) => reader.get(...parameters),
    all: (...parameters) => reader.all(...parameters),
  };
}
