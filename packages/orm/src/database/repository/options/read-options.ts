import type { Direction } from "../../../state/context/any-query.js";
import type { PageOptions } from "../../../state/context/page.js";

// Options that do not depend on the model, and those of generated methods. `Row` is the whole row,
// whatever a method returns of it.

export interface ReadLimit {
  /** The maximum number of entries to read. The default is the `maxReads` of the database. */
  readonly maxReads?: number | undefined;
}

/** The limit of reads of a call, and its signal. */
export interface ReadOptions extends ReadLimit {
  /**
   * Stops the read: the call throws the reason of the signal, and a live query ends. A read of one
   * entry that has begun is completed.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface RowFilterOptions<Row> {
  /** Returns whether a row is in the result. It is called with each row that is read. */
  readonly filter?: ((row: Row) => boolean) | undefined;
}

/** The option of reads by the primary key, for a model with `softDelete`. */
export interface WithDeleted {
  /** Return also rows that are marked as deleted. The default is false. */
  readonly withDeleted?: boolean | undefined;
}

/** The option of a list by an index with `ranked: true`. */
export interface Skipping {
  /** How many rows to leave out at the beginning, without reading them. The default is 0. */
  readonly skip?: number | undefined;
}

/** Options of a rank in the order of an index. */
export interface RowRankOptions<By = readonly string[]> extends ReadOptions {
  /**
   * The first fields of the index. Only rows with the same values of these fields as the row are
   * counted. All rows of the index if absent.
   */
  readonly by?: By | undefined;
  /** `"desc"` to count the rows after the row instead: the largest has rank 0. */
  readonly order?: Direction | undefined;
}

/** Options of a count. */
export interface CountOptions<Row = unknown> extends ReadOptions, RowFilterOptions<Row> {}

/** Options of a list: its pages, its order, its filter and its limit of reads. */
export interface ListOptions<Row = unknown> extends PageOptions, CountOptions<Row> {
  /** The direction in which the index is read. The default is `"asc"`. */
  readonly order?: Direction | undefined;
}

/** Options of a list of values or of groups. */
export interface ValueOptions extends ReadOptions {
  /** The maximum number of values or groups. All of them if absent. */
  readonly take?: number | undefined;
  /** The direction of the values or groups. The default is `"asc"`. */
  readonly order?: Direction | undefined;
}

/** Options of a write of many rows. */
export interface BatchOptions extends ReadLimit {
  /** The maximum number of rows. All rows if absent. */
  readonly take?: number | undefined;
  /** The direction in which the rows are found. The default is `"asc"`. */
  readonly order?: Direction | undefined;
  /** Write all rows in one commit, or none. The default is false. */
  readonly atomic?: boolean | undefined;
}

/** Options of a delete of the rows of an index. */
export interface ManyDeleteOptions<Row = unknown> extends BatchOptions, RowFilterOptions<Row> {}

/** Options of an update of the rows of an index. */
export interface ManyUpdateOptions<Row = unknown> extends ManyDeleteOptions<Row> {
  /**
   * The lifetime of the rows and their index entries in milliseconds, counted from this update. If
   * absent, the rows expire when they would have expired before.
   */
  readonly expireIn?: number | undefined;
}
