import type { Operation } from "../../errors/orm-error.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { Middleware } from "./database-call.js";

/** A call of a repository, reported when it ends. */
export interface QueryEvent {
  readonly operation: Operation;
  readonly model: string;
  /** The index that was read, or `"primaryKey"`. Undefined if nothing was read. */
  readonly index: string | undefined;
  /**
   * How many entries were read. An index entry and a row count as one read each. At most `maxReads`
   * for a query. A write of many rows also counts the reads that it makes for each row it has
   * found.
   */
  readonly reads: number;
  readonly milliseconds: number;
  /** When the call began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The value that the call threw. Undefined if it succeeded. */
  readonly error: unknown;
}

/** The transaction of a write, for its `during` hook. */
export interface AnyHookContext {
  readonly tx: object;
}

export interface AnyHooks {
  readonly beforeCreate?: (data: AnyRow) => unknown;
  readonly afterCreate?: (row: AnyRow) => unknown;
  readonly beforeUpdate?: (data: AnyRow, before: AnyRow) => unknown;
  readonly afterUpdate?: (row: AnyRow, before: AnyRow) => unknown;
  readonly beforeDelete?: (row: AnyRow) => unknown;
  readonly afterDelete?: (row: AnyRow) => unknown;
  readonly afterRead?: (row: AnyRow) => unknown;
  readonly duringCreate?: (row: AnyRow, transaction: AnyHookContext) => unknown;
  readonly duringUpdate?: (row: AnyRow, before: AnyRow, transaction: AnyHookContext) => unknown;
  readonly duringDelete?: (row: AnyRow, transaction: AnyHookContext) => unknown;
}

/** Connects the traces of calls that enqueue jobs with those of the runs of the jobs. */
export interface JobTracing {
  /** Returns the trace context of the current call. Null if there is none. */
  current(): string | null;
  /**
   * Calls the handler of a job, and returns what it returns.
   *
   * @param trace what `current` returned when the job was enqueued.
   */
  run<T>(job: TracedJob, trace: string | null, handler: () => Promise<T>): Promise<T>;
}

/** A run of a job, for its trace. */
export interface TracedJob {
  readonly id: string;
  /** The `name` of its definition. */
  readonly name: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
}

export interface DatabaseSettings {
  /** How many entries a query may read if it has no `maxReads`. `Infinity` for no limit. */
  readonly maxReads: number;
  /** Validate stored rows against their schema when they are read. */
  readonly validateReads: boolean;
  /** By the names of their models. Has no prototype, so that each name can be looked up. */
  readonly hooks: Readonly<Record<string, AnyHooks>>;
  /** Returns the repositories of a transaction, by the names of their models. */
  readonly databaseWithin?: ((tables: ReadonlyMap<string, unknown>) => object) | undefined;
  readonly onQuery: ((event: QueryEvent) => void) | undefined;
  readonly jobTracing?: JobTracing | undefined;
  /** The function around each call. Undefined if there is none. */
  readonly middleware?: Middleware | undefined;
}
