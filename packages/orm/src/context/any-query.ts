import type { KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../model/compiled-model.js";

/** The direction of an order. */
export type Direction = "asc" | "desc";

/** A query as the methods of a repository take it, whatever its model. */
export interface AnyQuery {
  readonly where?: AnyRow | undefined;
  /** One field, or several in a list of objects with one field each. */
  readonly orderBy?: AnyOrder | readonly AnyOrder[] | undefined;
  /** The name of the index to use. */
  readonly index?: string | undefined;
  /** Which of the rows that are read are in the result. */
  readonly filter?: ((row: never) => boolean) | undefined;
  readonly take?: number | undefined;
  readonly cursor?: string | null | undefined;
  readonly maxReads?: number | undefined;
  /** The fields of a row that are returned; all without it. */
  readonly select?: Readonly<Record<string, unknown>> | undefined;
  readonly include?: AnyInclude | undefined;
  readonly withVersionstamp?: boolean | undefined;
  /**
   * Of one row: false says that it is only read, so that an index entry will do that holds what is selected. Without it the
   * row itself is read, all of it, with its own versionstamp. Of many rows: true asks for that.
   */
  readonly forWrite?: boolean | undefined;
  /** Of one row that is to go: true takes it as it is stored where it cannot be made one of the program's schema. */
  readonly orAsStored?: boolean | undefined;
}

/** Fields and the direction of each. */
export type AnyOrder = Readonly<Record<string, Direction | undefined>>;

/** Relations to load: all of a relation's rows, or those of a query of their own. */
export type AnyInclude = Readonly<Record<string, boolean | AnyQuery | undefined>>;

/** A row that was found, with what it takes to change it. */
export interface FoundRow {
  readonly primaryKey: readonly KvKeyPart[];
  readonly row: AnyRow;
  /** The row as it is stored, where that is one of an earlier schema which was made one of the program's. */
  readonly stored?: AnyRow | undefined;
  /** Of the row; of the index entry where only that was read. */
  readonly versionstamp: string;
  /** When the row expires, in milliseconds since 1970; undefined where it does not, or the database does not tell. */
  readonly expireAt?: number | undefined;
}
