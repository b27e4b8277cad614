import type { AnyJobs } from "../jobs/define/define-job.js";
import type { AnyModels, CreateInput, Model, Row } from "../model/model.js";
import type { UpdateInput } from "../model/rows/update-input.js";
import type { AnyDatabase } from "../state/context/any-database.js";
import type { Middleware } from "../state/context/database-call.js";
import type { JobTracing, QueryEvent } from "../state/context/database-settings.js";
import type { RowMigration } from "../state/schema/define-migration.js";
import type { TransactionJobs } from "./job-database-types.js";
import type { Repository } from "./repository/repository.js";

/**
 * Functions that are called before and after writes of a model's rows. They are called one after
 * another, and each is awaited. If a `before` hook throws, nothing is written, unless the row is
 * deleted in several commits. An `after` hook is called after the commit, so the row stays written
 * if the hook throws.
 */
export interface ModelHooks<
  M extends Model,
  Models extends AnyModels = Readonly<Record<never, Model>>,
  J extends AnyJobs | undefined = undefined,
> {
  /** Called with the data of the call. Can return other data to create the row from. */
  readonly beforeCreate?: (data: CreateInput<M>) => Returned<CreateInput<M>>;
  readonly afterCreate?: (row: Row<M>) => Promisable<void>;
  /**
   * Called with the data of the call and the current row. Can return other data. It is called again
   * if the row was changed by another writer and must be read again.
   */
  readonly beforeUpdate?: (data: UpdateInput<M>, before: Row<M>) => Returned<UpdateInput<M>>;
  readonly afterUpdate?: (row: Row<M>, before: Row<M>) => Promisable<void>;
  readonly beforeDelete?: (row: Row<M>) => Promisable<void>;
  readonly afterDelete?: (row: Row<M>) => Promisable<void>;
  /**
   * Called within the commit that creates the row, with the transaction: `tx` reads and writes
   * other rows in the same commit, and sees the new row. If it throws, nothing is written. It is
   * called again if the commit is made again, so it must have no other effects.
   */
  readonly duringCreate?: (row: Row<M>, context: HookContext<Models, J>) => Promisable<void>;
  /** The same for an update, with the row before it. */
  readonly duringUpdate?: (
    row: Row<M>,
    before: Row<M>,
    context: HookContext<Models, J>,
  ) => Promisable<void>;
  /** The same for a delete. `tx` no longer sees the row. */
  readonly duringDelete?: (row: Row<M>, context: HookContext<Models, J>) => Promisable<void>;
  /**
   * Called with a copy of each row that a call returns, also one that was written. Can change it or
   * return other values of its fields, for example to decrypt or to mask them. Computed fields are
   * computed from the result. It does not change what is stored, nor what `where` and `filter` see.
   */
  readonly afterRead?: (row: Row<M>) => Returned<Row<M>>;
}

/** What a `during` hook gets in addition to the rows. */
export interface HookContext<Models extends AnyModels, J extends AnyJobs | undefined = undefined> {
  /** The transaction that writes the row, with the repositories of all models, and the jobs. */
  readonly tx: AnyDatabase & {
    readonly [K in keyof Models]: Repository<Models[K], Models>;
  } & TransactionJobs<J>;
}

type Promisable<T> = T | Promise<T>;

/** The data that replaces the input. Nothing if the input stays as it is. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook may return nothing.
type Returned<T> = Promisable<T | void>;

/** Options of a database. */
export interface DatabaseOptions<
  M extends Readonly<Record<string, Model>>,
  J extends AnyJobs | undefined = undefined,
> {
  /**
   * Kinds of jobs, made by `defineJob`, by the names that the program uses for them. The database
   * then has `jobs` and `work`, and its transactions have `jobs`. With `{}` it has only the jobs
   * that other programs have stored.
   */
  readonly jobs?: J | undefined;
  /** The maximum number of entries that a query without its own `maxReads` may read. */
  readonly maxReads?: number | undefined;
  /** Validate stored rows against their schema when they are read. The default is false. */
  readonly validateReads?: boolean | undefined;
  /**
   * Write nothing. Models that the key-value database does not contain yet are not added to its
   * catalog, and all calls that write fail with a `ReadOnlyError`. `verifyIndexes` then keeps
   * nothing of its progress. The default is false.
   */
  readonly readOnly?: boolean | undefined;
  /**
   * Migrations, created by `defineMigration`, that change rows of earlier schemas into rows of the
   * current models. `migrate` applies them to the stored rows. Before that, rows are upgraded when
   * they are read.
   */
  readonly migrations?: readonly RowMigration[] | undefined;
  readonly hooks?: { readonly [K in keyof M]?: ModelHooks<M[K], M, J> | undefined } | undefined;
  /**
   * A function around each call of a repository, or several of them, of which the first is the
   * outermost. It gets the model, the operation and the argument, and its result is that of the
   * call: `async (call, next) => await next()`.
   */
  readonly middleware?: Middleware | readonly Middleware[] | undefined;
  /**
   * Called at the end of each call. Its errors go to `console.error` only. It may write through the
   * database. Such a write is no part of the transaction whose call is reported, and happens again
   * if the transaction runs again.
   */
  readonly onQuery?: ((event: QueryEvent) => void) | undefined;
  /**
   * Stores the trace of each call that enqueues a job with the job, and traces its runs. For
   * OpenTelemetry, pass `traceJobs()` of `@keywright/orm/opentelemetry`.
   */
  readonly jobTracing?: JobTracing | undefined;
}
