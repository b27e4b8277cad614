/** A value of a column or a parameter. Numbers are whole and safe. */
export type SqliteValue = null | number | string | Uint8Array;

/** A prepared statement. It is run to its end by each call, so it never stays open. */
export interface SqliteStatement {
  /** Runs a statement that returns no rows. Returns how many rows it has changed. */
  run(...parameters: SqliteValue[]): number;
  /** Returns the columns of the first row, or undefined if there is none. */
  get(...parameters: SqliteValue[]): readonly SqliteValue[] | undefined;
  /** Returns the columns of all rows. */
  all(...parameters: SqliteValue[]): readonly (readonly SqliteValue[])[];
}

/** An open connection to a file. All its calls are synchronous. */
export interface SqliteConnection {
  /** Prepares one statement of SQL. The engine keeps it as long as the connection. */
  prepare(sql: string): SqliteStatement;
  /** Closes the connection and all its statements. */
  close(): void;
}

/**
 * The SQLite of a runtime. The engine needs SQLite 3.24 or later, with files in WAL mode.
 *
 * ```ts
 * const driver: SqliteDriver = {
 *   open: (path, { readOnly }) => {
 *     const db = new OtherSqlite(path, { readOnly });
 *     return {
 *       prepare: (sql) => {
 *         const statement = db.prepare(sql);
 *         return {
 *           run: (...values) => statement.run(...values).changes,
 *           get: (...values) => statement.rows(...values)[0],
 *           all: (...values) => statement.rows(...values),
 *         };
 *       },
 *       close: () => db.close(),
 *     };
 *   },
 *   codeOf: (error) => (error instanceof OtherSqliteError ? error.resultCode : undefined),
 * };
 * ```
 */
export interface SqliteDriver {
  /** Opens a file, and creates it if it is missing, unless `readOnly` is true. */
  open(path: string, options: { readonly readOnly: boolean }): SqliteConnection;
  /** Returns the result code of SQLite, primary or extended, or undefined for other errors. */
  codeOf(error: unknown): number | undefined;
}
