import type { AnyJobs } from "../jobs/define/define-job.js";
import type { Model } from "../model/model.js";
import type { AnyDatabase } from "../state/context/any-database.js";
import type { TransactionOptions } from "../state/transaction/run-scoped-transaction.js";
import type { IsStrict, NotStrict } from "./checked-models.js";
import type { Consume } from "./consume-types.js";
import type { JobsOf, TransactionJobs } from "./job-database-types.js";
import type { Repository } from "./repository/repository.js";
import type { Scoping } from "./scope/scope-types.js";
import type { PastOptions } from "./snapshot/run-past.js";
import type { SnapshotOptions } from "./snapshot/run-snapshot.js";
import type { SnapshotView } from "./snapshot/snapshot-types.js";

/** Models by the names that the program uses for them: `{ users: User }`. */
export type Models = Readonly<Record<string, Model>>;

/** Models → a repository for each of them. */
export type Repositories<M extends Models> = {
  readonly [K in keyof M]: IsStrict extends true ? Repository<M[K], M> : NotStrict;
};

/** Models, job definitions → what the function of a transaction gets. */
export type TransactionDatabase<
  M extends Models,
  J extends AnyJobs | undefined = undefined,
> = AnyDatabase & Repositories<M> & Scoping<M, unknown, J> & TransactionJobs<J>;

/** Models → a repository for each of them, and the methods of a database. */
export type Database<M extends Models, J extends AnyJobs | undefined = undefined> = AnyDatabase &
  Repositories<M> &
  Scoping<M, unknown, J> &
  JobsOf<J, TransactionDatabase<M, J>> & {
    /**
     * Runs a function as one transaction, and returns its result after the commit. All writes of
     * the function are one commit. If the function throws, nothing is written.
     *
     * If another commit changes data that the function has read, the function runs again. So it
     * should only read and write through `tx`, and have no other effects.
     *
     * Transactions are strictly serializable: everything that the function has read is the same at
     * the time of the commit, and no row has entered the result of a query. A function that only
     * reads sees one state of the database, and does not run again. On Deno KV, a row that others
     * add to the result of a query may not be noticed; see `docs/transactions.md`. There,
     * `isolation: "serializable"` is refused.
     *
     * @throws {IsolationUnavailableError} if `isolation` is `"serializable"` and the database
     * cannot give it. The function is not called.
     * @throws {TransactionConflictError} after `maxAttempts` attempts.
     * @throws {TransactionBypassedError} from writes of the function that do not go through `tx`.
     * @throws {TransactionNotAwaitedError} if the function returns before its writes have ended.
     * @throws {TransactionEndedError} from calls after the transaction.
     * @throws {LimitExceededError} if there are more reads or writes than the database accepts in
     * one commit.
     * @throws {InvalidArgumentError} if `maxAttempts` is not a positive integer, or `isolation`
     * is not `"serializable"`.
     * @throws the reason of `signal` if it is aborted.
     */
    readonly transaction: <T>(
      body: (tx: TransactionDatabase<M, J>) => Promise<T>,
      options?: TransactionOptions,
    ) => Promise<T>;
    /**
     * Runs a function whose reads all see one state of the database: that at the call. So the parts
     * of a report or an export fit together, whatever others write at the same time, and however
     * many calls, pages and models they are. `view` has the methods of the repositories that read.
     * The snapshot ends with the function.
     *
     * The function runs once. It delays nobody, but the database keeps what others replace until it
     * ends. Databases end snapshots that take very long; see `docs/transactions.md`.
     *
     * @throws {IsolationUnavailableError} if the database has no such state, as Deno KV. The
     * function is not called.
     * @throws {SnapshotEndedError} from reads after the end, and if the database no longer has the
     * state.
     * @throws {SnapshotReadOnlyError} from methods that write or watch, which the type lacks.
     * @throws the reason of `signal` if it is aborted.
     */
    readonly snapshot: <T>(
      body: (view: SnapshotView<M>) => Promise<T>,
      options?: SnapshotOptions,
    ) => Promise<T>;
    /**
     * Runs a function whose reads see the database as it was at an earlier moment: a versionstamp,
     * or a time, which means the last commit up to it. `past` has the methods of the repositories
     * that read. Rows are returned by the present schema. The database must keep a log: see `log`
     * of `openKv`.
     *
     * It first reads what was changed since from the log, and keeps it in memory. Then reads cost
     * as much as in a snapshot. Rows that have expired by now are absent.
     *
     * @throws {LogOffError} if the database keeps no log.
     * @throws {LogUnavailableError} if it cannot keep one, as Deno KV.
     * @throws {LogTruncatedError} if the log does not reach back to the moment.
     * @throws {PastLimitError} if more than `maxChanges` entries were changed since.
     * @throws {PastUnreadableError} if a migration has moved rows or indexes since.
     * @throws {PastUnknownError} from reads of a minimum or maximum that has changed since, on etcd
     * and PostgreSQL.
     * @throws the errors of `snapshot`.
     */
    readonly at: <T>(
      moment: string | Date,
      body: (past: SnapshotView<M>) => Promise<T>,
      options?: PastOptions,
    ) => Promise<T>;
    /**
     * Calls a handler for each commit of the log that has changed rows, in the order of the commits
     * and at least once, in one process at a time: see `consume` of the key-value database. The
     * database keeps the position of the consumer under its name. The database must keep a log.
     *
     * `transaction` of a delivery is a transaction of the database whose commit also says that the
     * commit of the log was handled, so its writes happen exactly once. A commit that the consumer
     * has made itself is not delivered to it.
     *
     * ```ts
     * await db.consume("search-index", async ({ commit, transaction }) => {
     *   await transaction(async (tx) => {
     *     for (const { key, after } of commit.changes) await index(tx, key, after);
     *   });
     * }, { models: ["posts"], signal });
     * ```
     *
     * @throws {LogUnavailableError} if the database cannot keep a log, as Deno KV.
     * @throws {InvalidArgumentError} if an option names a model that the database does not have.
     * @throws the errors of `kv.consume`.
     */
    readonly consume: Consume<M, TransactionDatabase<M, J>>;
    /**
     * Returns the same database, whose commits say something of themselves, such as who makes them
     * and why: `db.withContext({ actor, reason })`. If the database keeps a log, `kv.changes` and
     * `changes` of the repositories return the value with the commit. The value is copied.
     *
     * @throws {InvalidArgumentError} if the structured clone algorithm does not copy the value.
     */
    readonly withContext: (context: unknown) => Database<M, J>;
  };
