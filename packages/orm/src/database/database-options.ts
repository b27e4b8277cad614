import type { QueryEvent } from "../context/database-settings.js";
import type { CreateInput, Model, Row } from "../model/model.js";
import type { UpdateInput } from "../model/update-input.js";
import type { RowMigration } from "../schema/define-migration.js";

/**
 * Functions to call around the writes of a model's rows, one after the other, each awaited. Those before a write may
 * throw, and nothing is written then; those after it run when it is committed.
 */
export interface ModelHooks<M extends Model> {
  /** May return other data to create the row from. */
  readonly beforeCreate?: (data: CreateInput<M>) => Returned<CreateInput<M>>;
  readonly afterCreate?: (row: Row<M>) => Promisable<void>;
  /** May return another change. It runs again where the row is read again. */
  readonly beforeUpdate?: (data: UpdateInput<M>, before: Row<M>) => Returned<UpdateInput<M>>;
  readonly afterUpdate?: (row: Row<M>, before: Row<M>) => Promisable<void>;
  readonly beforeDelete?: (row: Row<M>) => Promisable<void>;
  readonly afterDelete?: (row: Row<M>) => Promisable<void>;
}

type Promisable<T> = T | Promise<T>;

/** Other data, or nothing, which leaves them as they are. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement is one that returns nothing.
type Returned<T> = Promisable<T | void>;

/** How a database behaves. */
export interface DatabaseOptions<M extends Readonly<Record<string, Model>>> {
  /** Entries that a query may read at the most, where it does not say so itself. No limit without it. */
  readonly maxReads?: number;
  /** Put stored rows to their schema when they are read. */
  readonly validateReads?: boolean;
  /**
   * How rows of earlier schemas become rows of these models, made by `defineMigration`: what `migrate` changes them with, and
   * what brings them up when they are read before that.
   */
  readonly migrations?: readonly RowMigration[];
  readonly hooks?: { readonly [K in keyof M]?: ModelHooks<M[K]> };
  /** Called when a call of a repository ends. What it throws goes to `console.error`, and the call stands. */
  readonly onQuery?: (event: QueryEvent) => void;
}
