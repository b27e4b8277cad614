import type { SqliteDriver, SqliteValue } from "./sqlite-driver.js";

interface Statement {
  run(...parameters: SqliteValue[]): { readonly changes: number };
  values(...parameters: SqliteValue[]): SqliteValue[][] | null;
  finalize(): void;
}

interface BunSqlite {
  readonly Database: new (
    path: string,
    options: { readonly readonly: boolean } | { readonly readwrite: boolean; create: boolean },
  ) => { prepare(sql: string): Statement; close(throwOnError?: boolean): void };
}

/** The driver on `bun:sqlite`. */
export function bunSqliteDriver({ Database }: BunSqlite): SqliteDriver {
  return {
    open: (path, { readOnly }) => {
      const options = readOnly ? { readonly: true } : { readwrite: true, create: true };
      const database = new Database(path, options);
      const statements: Statement[] = [];
      return {
        prepare: (sql) => {
          const statement = database.prepare(sql);
          statements.push(statement);
          return {
            run: (...parameters) => statement.run(...parameters).changes,
            get: (...parameters) => statement.values(...parameters)?.[0],
            all: (...parameters) => statement.values(...parameters) ?? [],
          };
        },
        close: () => {
          // An open statement would keep the file open.
          for (const statement of statements) statement.finalize();
          database.close(true);
        },
      };
    },
    codeOf: (error) => {
      const { errno, code } = (error ?? {}) as {
        readonly errno?: unknown;
        readonly code?: unknown;
      };
      return typeof errno === "number" && String(code).startsWith("SQLITE_") ? errno : undefined;
    },
  };
}
