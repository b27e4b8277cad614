import type { KvConsumeOptions, KvDelivery } from "@keywright/core";
import type { RowChangeType } from "../../read/history/row-changes.js";
import type { AnyDatabase } from "../../state/context/any-database.js";

/** Options of `changes` of a generated repository. */
export interface ChangeOptions<Row> {
  /** The versionstamp of the last commit that was handled. By default, the oldest commit is first. */
  readonly after?: string | undefined;
  /** The values that fields of the rows have. Needs no index. */
  readonly where?: Partial<Row> | undefined;
  /** Decides which rows are seen. */
  readonly filter?: ((row: Row) => boolean) | undefined;
  /** False to end after the newest commit. By default, the iteration waits for further commits. */
  readonly live?: boolean | undefined;
  /** Ends the iteration with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A change of a row of a generated repository. `Key` are the fields of its primary key. */
export interface ChangedRow<Row, Key extends keyof Row> {
  readonly type: RowChangeType;
  readonly key: Pick<Row, Key>;
  /** Null if the row was not there, or was not seen. */
  readonly before: Row | null;
  /** Null if the row is no longer there, or is no longer seen. */
  readonly after: Row | null;
}

/** A commit, with at least one change of a row. */
export interface ChangedRows<Change> {
  readonly versionstamp: string;
  /** The time of the commit by the clock of the process that made it. */
  readonly time: Date;
  /** What `withContext` has said of the commit. */
  readonly context: unknown;
  readonly changes: readonly Change[];
}

/** A change of a row of one of several models. `Name` is the name of the model in the program. */
export interface ModelChange<Name, Row, Key extends keyof Row> extends ChangedRow<Row, Key> {
  readonly model: Name;
}

/** Options of `history` of a generated repository. */
export interface VersionOptions {
  /** The maximum number of versions. All that the log has by default. */
  readonly take?: number | undefined;
  /** The `cursor` of the page before. */
  readonly cursor?: string | null | undefined;
  /** How many commits of the log are read at most to find out when the row was deleted. */
  readonly maxScan?: number | undefined;
  /** The maximum number of versions that are read. */
  readonly maxReads?: number | undefined;
  /** Stops the reads with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What a row of a generated repository was from a commit on. */
export interface VersionOfRow<Row> {
  readonly versionstamp: string;
  /** The time of the commit. Null if the log no longer has it. */
  readonly time: Date | null;
  /** What `withContext` has said of the commit. */
  readonly context: unknown;
  /** Null if the commit has deleted the row. */
  readonly row: Row | null;
}

/** What the handler of `consume` of generated repositories gets. */
export interface ChangeDelivery<Change, Tx> extends Pick<KvDelivery, "attempt" | "signal"> {
  readonly commit: ChangedRows<Change>;
  /**
   * Runs a transaction whose commit also says that the commit of the log was handled, so its writes
   * happen exactly once. A transaction that writes nothing does not say it.
   *
   * @throws {ConsumerLostError} if another process has the consumer by now, or if the commit was
   * handled before. Nothing was written.
   */
  transaction<T>(body: (tx: Tx) => Promise<T>, options?: TransactionLimits): Promise<T>;
}

interface TransactionLimits {
  readonly maxAttempts?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options of `consume` of generated repositories. */
export interface ChangeConsumeOptions<Name extends string>
  extends Omit<KvConsumeOptions, "prefix"> {
  /** The models whose rows are of interest. All by default. */
  readonly models?: readonly Name[] | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: types that only generated code knows.
type Known = any;

/**
 * Runs a consumer whose transactions have generated repositories.
 *
 * @param transactionOf returns the repositories of a transaction.
 */
export function consumeThrough(
  database: AnyDatabase,
  name: string,
  handler: (delivery: Known) => Promise<void> | void,
  options: ChangeConsumeOptions<string> | undefined,
  transactionOf: (tx: Known) => unknown,
): Promise<void> {
  const { consume } = database as unknown as { readonly consume: Known };
  const handle = (delivery: ChangeDelivery<unknown, unknown>) =>
    handler({
      ...delivery,
      transaction: (body: Known, limits?: TransactionLimits) =>
        delivery.transaction((tx) => body(transactionOf(tx)), limits),
    });
  return consume(name, handle, options);
}
