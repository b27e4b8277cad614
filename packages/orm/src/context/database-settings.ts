import type { Operation } from "../errors/orm-error.js";
import type { AnyRow } from "../model/compiled-model.js";

/** What a call of a repository did, told when it ends. */
export interface QueryEvent {
  readonly operation: Operation;
  readonly model: string;
  /** The index that was read; `"primaryKey"` for rows by primary key or in its order; undefined where none was. */
  readonly index: string | undefined;
  /** Entries that were read: an index entry and a row are a read each. */
  readonly reads: number;
  readonly milliseconds: number;
  /** When the call began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** What it threw; undefined where it did not. */
  readonly error: unknown;
}

/** Functions to call around the writes of a model's rows, whatever the model. */
export interface AnyHooks {
  readonly beforeCreate?: (data: AnyRow) => unknown;
  readonly afterCreate?: (row: AnyRow) => unknown;
  readonly beforeUpdate?: (data: AnyRow, before: AnyRow) => unknown;
  readonly afterUpdate?: (row: AnyRow, before: AnyRow) => unknown;
  readonly beforeDelete?: (row: AnyRow) => unknown;
  readonly afterDelete?: (row: AnyRow) => unknown;
}

/** How a database was opened. */
export interface DatabaseSettings {
  /** Entries that a query may read at the most, where it does not say so itself; `Infinity` without a limit. */
  readonly maxReads: number;
  /** Put stored rows to their schema when they are read. */
  readonly validateReads: boolean;
  /** By the model's own name. */
  readonly hooks: Readonly<Record<string, AnyHooks>>;
  readonly onQuery: ((event: QueryEvent) => void) | undefined;
}
