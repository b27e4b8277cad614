import { EngineFailedError, isKeywrightError } from "@keywright/core";
import type { SqliteStatement, SqliteValue } from "../driver/sqlite-driver.js";
import { EntryStatements } from "../file/entry-statements.js";

/** What the engine uses of `ctx.storage` of a Durable Object with SQLite. */
export interface ObjectStorage {
  readonly sql: {
    // biome-ignore lint/suspicious/noExplicitAny: the types of Workers declare it so.
    exec(query: string, ...bindings: any[]): ObjectCursor;
  };
  /** Runs a function as one transaction, which an exception ends without its writes. */
  transactionSync<T>(body: () => T): T;
  /** Resolves when all earlier writes are on disk. */
  sync(): Promise<void>;
}

interface ObjectCursor {
  readonly rowsWritten: number;
  raw(): Iterable<readonly unknown[]>;
}

/** The statements of an object. It has one thread and no other user, so nothing has to wait. */
export class ObjectStatements extends EntryStatements {
  constructor(storage: ObjectStorage) {
    super({ prepare: (sql) => statementOf(storage, sql) });
  }

  override inOneState<T>(body: () => T): T {
    return this.reading(body);
  }

  override reading<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw isKeywrightError(error) ? error : new EngineFailedError(error, "read");
    }
  }
}

/** The runtime itself keeps the statements that it has prepared, by their text. */
function statementOf({ sql }: ObjectStorage, text: string): SqliteStatement {
  const all = (...parameters: SqliteValue[]) =>
    Array.from(sql.exec(text, ...parameters).raw(), (row) => row.map(bytesOf));
  return {
    run: (...parameters) => sql.exec(text, ...parameters).rowsWritten,
    get: (...parameters) => all(...parameters)[0],
    all,
  };
}

function bytesOf(column: unknown): SqliteValue {
  return column instanceof ArrayBuffer ? new Uint8Array(column) : (column as SqliteValue);
}
