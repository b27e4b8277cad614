import type { AnyJobs } from "../../jobs/define/define-job.js";
import type { AnyModels } from "../../model/model.js";
import type { AnyDatabase } from "../../state/context/any-database.js";
import type { TransactionOptions } from "../../state/transaction/run-scoped-transaction.js";
import type { Consume } from "../consume-types.js";
import type { ScopedJobs } from "../job-database-types.js";
import type { Repository } from "../repository/repository.js";
import type { PastOptions } from "../snapshot/run-past.js";
import type { SnapshotOptions } from "../snapshot/run-snapshot.js";
import type { ScopedSnapshotView } from "../snapshot/snapshot-types.js";
import type { CheckedScope, ScopedModels, ScopeValues } from "./scoped-models.js";

/** Models, scope → a repository for each model of the scope. */
export type ScopedRepositories<M extends AnyModels, S> = ScopedOf<ScopedModels<M, S>>;

type ScopedOf<M extends AnyModels> = { readonly [K in keyof M]: Repository<M[K], M> };

/**
 * The method that returns a database within a scope. The variances are stated, because it takes the
 * compiler long to find them.
 */
export interface Scoping<
  in out M extends AnyModels,
  in out Before = unknown,
  out J extends AnyJobs | undefined = undefined,
> {
  /**
   * Returns a database whose reads and writes are bounded by values of fields: `db.scope({
   * tenantId: "acme" })`. It has only the models that have these fields. Their values are filled in
   * by `create` and are part of every query, so both leave them out. Its jobs can only be enqueued.
   *
   * @throws {ScopeError} if no model has the fields, or if a unique index of a model that has them
   * does not have them in its key.
   */
  scope<const S extends ScopeValues>(
    values: S & CheckedScope<M, NoInfer<S>>,
  ): ScopedDatabase<M, Before & S, J>;
}

/** Models, scope, job definitions → a database within the scope. */
export type ScopedDatabase<
  M extends AnyModels,
  S,
  J extends AnyJobs | undefined = undefined,
> = ScopedRepositories<M, S> &
  Scoping<M, S, J> &
  ScopedJobs<J, S> & {
    /** Runs a function as one transaction within the scope: see `transaction` of the database. */
    readonly transaction: <T>(
      body: (tx: AnyDatabase & ScopedRepositories<M, S> & ScopedJobs<J, S>) => Promise<T>,
      options?: TransactionOptions,
    ) => Promise<T>;
    /** Runs a function that reads an earlier state of the scope: see `at` of the database. */
    readonly at: <T>(
      moment: string | Date,
      body: (view: ScopedSnapshotView<M, S>) => Promise<T>,
      options?: PastOptions,
    ) => Promise<T>;
    /**
     * Calls a handler for each commit that has changed rows of the scope: see `consume` of the
     * database.
     */
    readonly consume: Consume<
      ScopedModels<M, S>,
      AnyDatabase & ScopedRepositories<M, S> & ScopedJobs<J, S>
    >;
    /** Returns the same scope, whose commits carry a value: see `withContext` of the database. */
    readonly withContext: (context: unknown) => ScopedDatabase<M, S, J>;
    /** Runs a function that reads one state of the scope: see `snapshot` of the database. */
    readonly snapshot: <T>(
      body: (view: ScopedSnapshotView<M, S>) => Promise<T>,
      options?: SnapshotOptions,
    ) => Promise<T>;
  };
