import type { KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import type { Time } from "../../model/rows/time.js";
import type { RelatedFilters } from "./open-filters.js";

/** Ascending or descending. */
export type Direction = "asc" | "desc";

/** A query as the methods of a repository take it, for any model. */
export interface AnyQuery {
  readonly where?: AnyRow | undefined;
  /** The conditions on related rows, which `where` no longer contains. Set by the parser. */
  readonly related?: RelatedFilters | undefined;
  /** One field with its direction, or a list of objects with one field each. */
  readonly orderBy?: AnyOrder | readonly AnyOrder[] | undefined;
  /** The direction in which an index is read, instead of `orderBy`. */
  readonly order?: Direction | undefined;
  readonly index?: string | undefined;
  /** Decides which of the rows that are read are in the result. */
  readonly filter?: ((row: never) => boolean) | undefined;
  readonly take?: number | undefined;
  /** How many rows are left out at the beginning. */
  readonly skip?: number | undefined;
  readonly cursor?: string | null | undefined;
  readonly maxReads?: number | undefined;
  /** Stops a read with its reason, and ends a live query. */
  readonly signal?: AbortSignal | undefined;
  /** The fields of a row that are returned. All fields if absent. */
  readonly select?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The fields that are returned, if they are not those of `select`: computed fields are returned,
   * and the fields that they are computed from are read.
   */
  readonly returned?: Readonly<Record<string, unknown>> | undefined;
  readonly include?: AnyInclude | undefined;
  readonly withVersionstamp?: boolean | undefined;
  /** True to return also rows that are marked as deleted. */
  readonly withDeleted?: boolean | undefined;
  /**
   * True if the caller changes the rows that it finds: the complete rows are read, with their own
   * versionstamps. False if the caller only reads them: index entries are enough if they hold the
   * selected fields. The default is true for a query that finds one row by its key, otherwise
   * false.
   */
  readonly forWrite?: boolean | undefined;
  /** For a deletion: finds a row also if it cannot be upgraded to the program's schema. */
  readonly orAsStored?: boolean | undefined;
}

export type AnyOrder = Readonly<Record<string, Direction | undefined>>;

/** Relations to load: `true` for all rows of a relation, or a query for some of them. */
export type AnyInclude = Readonly<Record<string, boolean | AnyQuery | undefined>>;

/** A row with the data that is needed to change it. */
export interface FoundRow {
  readonly primaryKey: readonly KvKeyPart[];
  readonly row: AnyRow;
  /** The row as it is stored, if it is of an earlier schema. `row` is then the upgraded row. */
  readonly stored?: AnyRow | undefined;
  /** The versionstamp of the row, or of the index entry if only that was read. */
  readonly versionstamp: string;
  /** Undefined if it does not expire, or the database does not report the time. */
  readonly expireAt?: Time | undefined;
}
