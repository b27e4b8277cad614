import type { SqliteDriver, SqliteStatement, SqliteValue } from "./sqlite-driver.js";

interface Statement {
  run(...parameters: SqliteValue[]): { readonly changes: number | bigint };
  get(...parameters: SqliteValue[]): Row | undefined;
  all(...parameters: SqliteValue[]): Row[];
  setReturnArrays?(isEnabled: boolean): void;
}

type Row = SqliteValue[] | Readonly<Record<string, SqliteValue>>;

interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
    options: { readonly readOnly: boolean },
  ) => { prepare(sql: string): Statement; close(): void };
}

/** The driver on `node:sqlite`, which Node.js 22.13 and Deno have. */
export function nodeSqliteDriver({ DatabaseSync }: NodeSqlite): SqliteDriver {
  return {
    open: (path, { readOnly }) => {
      const database = new DatabaseSync(path, { readOnly });
      return {
        prepare: (sql) => arraysOf(database.prepare(sql)),
        close: () => database.close(),
      };
    },
    codeOf: (error) => {
      const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
      return typeof errcode === "number" ? errcode : undefined;
    },
  };
}

/** Early versions return objects, whose properties are in the order of the columns. */
function arraysOf(statement: Statement): SqliteStatement {
  statement.setReturnArrays?.(true);
  const columns = (row: Row): readonly SqliteValue[] =>
    Array.isArray(row) ? row : Object.values(row);
  return {
    run: (...parameters) => Number(statement.run(...parameters).changes),
    get: (...parameters) => {
      const row = statement.get(...parameters);
      return row === undefined ? undefined : columns(row);
    },
    all: (...parameters) => statement.all(...parameters).map(columns),
  };
}
