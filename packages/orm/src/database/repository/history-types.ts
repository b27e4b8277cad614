import type { Model, Row } from "../../model/model.js";
import type { ResultRow } from "../../model/rows/result-row.js";
import type { RowChangeType } from "../../read/history/row-changes.js";
import type { PrimaryKeyWhere } from "./options/soft-delete-types.js";

/** The argument of `changes`. */
export interface ChangesOptions<M extends Model> {
  /**
   * The versionstamp of the last commit that was handled. The next ones follow. Without it, the
   * first is the oldest commit of the log.
   */
  readonly after?: string | undefined;
  /** The values that fields of the rows have. Needs no index. */
  readonly where?: Partial<Row<M>> | undefined;
  /** Decides which rows are seen. */
  readonly filter?: ((row: Row<M>) => boolean) | undefined;
  /** False to end after the newest commit. By default, the iteration waits for further commits. */
  readonly live?: boolean | undefined;
  /** Ends the iteration with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A change of a row. */
export interface RowChange<M extends Model> {
  readonly type: RowChangeType;
  /** The primary key of the row, as `where` of `findUnique` takes it. */
  readonly key: PrimaryKeyWhere<M>;
  /** Null if the row was not there, or was not seen by `where`, `filter` or the scope. */
  readonly before: ResultRow<M> | null;
  /** Null if the row is no longer there, or is no longer seen. */
  readonly after: ResultRow<M> | null;
}

/** A commit that has changed rows of a model. */
export interface RowCommit<M extends Model> {
  readonly versionstamp: string;
  /** The time of the commit by the clock of the process that made it. */
  readonly time: Date;
  /** What `withContext` has said of the commit. */
  readonly context: unknown;
  /** At least one. Each row once. */
  readonly changes: readonly RowChange<M>[];
}

/** The argument of `history`. */
export interface HistoryOptions<M extends Model> {
  /** The primary key of the row. */
  readonly where: PrimaryKeyWhere<M>;
  /** The maximum number of versions. All that the log has by default. */
  readonly take?: number | undefined;
  /** The `cursor` of the page before. */
  readonly cursor?: string | null | undefined;
  /**
   * How many commits of the log are read at most to find out when the row was deleted. The default
   * is 10,000 if the row does not exist. If the row was deleted and created again, the versions
   * before the deletion are looked for only with this option.
   */
  readonly maxScan?: number | undefined;
  /** The maximum number of versions that are read. */
  readonly maxReads?: number | undefined;
  /** Stops the reads with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What a row was from a commit on. */
export interface RowVersion<M extends Model> {
  readonly versionstamp: string;
  /** The time of the commit. Null if the log no longer has it. */
  readonly time: Date | null;
  /** What `withContext` has said of the commit. */
  readonly context: unknown;
  /** Null if the commit has deleted the row. */
  readonly row: ResultRow<M> | null;
}

/** The argument of `restoreRow`. */
export interface RestoreRowOptions<M extends Model> {
  /** The primary key of the row. */
  readonly where: PrimaryKeyWhere<M>;
  /** The versionstamp of the version. */
  readonly versionstamp: string;
  /** The versionstamp that the row must have now. If it has another one, nothing is written. */
  readonly ifVersion?: string | undefined;
}
