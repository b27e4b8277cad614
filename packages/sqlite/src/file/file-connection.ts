import type { SqliteConnection } from "../driver/sqlite-driver.js";
import type { SqliteFailures } from "../errors/sqlite-failure.js";
import { EntryStatements } from "./entry-statements.js";

/** Milliseconds for which a read waits for a lock. No connection has one for long. */
const readTimeout = 10_000;

/** A connection to a file, its transactions, and how it waits for those of others. */
export class FileConnection extends EntryStatements {
  readonly #connection: SqliteConnection;
  readonly #failures: SqliteFailures;
  #isInTransaction = false;

  constructor(connection: SqliteConnection, failures: SqliteFailures) {
    super(connection);
    this.#connection = connection;
    this.#failures = failures;
    this.run("PRAGMA busy_timeout = 0");
    this.run("PRAGMA trusted_schema = OFF");
    this.run("PRAGMA cell_size_check = ON");
  }

  /** Begins a transaction that only reads. Its state is that of its first read. */
  begin(): void {
    this.run("BEGIN");
    this.#isInTransaction = true;
  }

  /** Begins a transaction that writes, in which no other connection does. */
  beginImmediate(): void {
    this.run("BEGIN IMMEDIATE");
    this.#isInTransaction = true;
  }

  commit(): void {
    this.run("COMMIT");
    this.#isInTransaction = false;
  }

  /** Ends a transaction without its writes, if there is one. */
  rollback(): void {
    if (!this.#isInTransaction) return;
    this.#isInTransaction = false;
    try {
      this.run("ROLLBACK");
    } catch {
      // SQLite has ended the transaction itself, because of the error that led to this call.
    }
  }

  /**
   * Runs reads that see one state.
   *
   * @throws the errors of SQLite as those of the engine.
   */
  override inOneState<T>(body: () => T): T {
    return this.reading(() => {
      if (this.#isInTransaction) return body();
      this.begin();
      try {
        return body();
      } finally {
        this.rollback();
      }
    });
  }

  /** Repeats reads that another connection has kept from beginning, and converts their errors. */
  override reading<T>(body: () => T, key?: Uint8Array): T {
    try {
      return body();
    } catch (error) {
      if (!this.#failures.isBusy(error)) throw this.#failures.ofRead(error, key);
      return this.#readingAfterWait(body, key);
    }
  }

  #readingAfterWait<T>(body: () => T, key: Uint8Array | undefined): T {
    const since = performance.now();
    try {
      this.run(`PRAGMA busy_timeout = ${readTimeout}`);
      return body();
    } catch (error) {
      if (this.#failures.isBusy(error))
        throw this.#failures.unavailable(Math.round(performance.now() - since), error);
      throw this.#failures.ofRead(error, key);
    } finally {
      this.run("PRAGMA busy_timeout = 0");
    }
  }

  /** Returns a number that changes if another connection has committed. */
  dataVersion(): number {
    return this.value("PRAGMA data_version") as number;
  }

  close(): void {
    this.rollback();
    this.#connection.close();
  }
}
