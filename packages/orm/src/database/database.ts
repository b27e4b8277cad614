import type { AtomicOperation, Kv, KvEntryMaybe, KvLike } from "@keywright/core";
import { recordUnguardedCopies } from "../derived/copies/unguarded-copies.js";
import { resolvePendingIndex } from "../derived/entries/duplicates/resolve-released.js";
import { optionAdvice } from "../errors/option-advice.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { ModelDefinitionError } from "../errors/schema-errors.js";
import { SnapshotReadOnlyError } from "../errors/transaction-errors.js";
import type { AnyJobs } from "../jobs/define/define-job.js";
import { type CompiledJobs, compileJobs, jobQueues } from "../jobs/job-queues.js";
import { assertUnscoped } from "../jobs/scoped-queue.js";
import { jobModel } from "../jobs/store/job-model.js";
import type { RunTransaction } from "../jobs/work/job-run.js";
import { startWorker } from "../jobs/work/job-worker.js";
import type { WorkOptions } from "../jobs/work/work-types.js";
import { assertDistinctPrefixes, compileModel } from "../model/compile-model.js";
import type { CompiledModel } from "../model/compiled-model.js";
import { isModel } from "../model/define-model.js";
import { isPlainObject } from "../model/is-plain-object.js";
import type { Model } from "../model/model.js";
import { assertArgument, functionOf } from "../model/shape.js";
import { capabilitiesOf } from "../state/catalog/capabilities-of.js";
import { type CatalogEntry, catalogKey } from "../state/catalog/catalog-entry.js";
import { ModelCatalog } from "../state/catalog/model-catalog.js";
import { isReadOnlyKv, readOnlyKv } from "../state/catalog/read-only-kv.js";
import {
  type AnyDatabase,
  registerDatabase,
  registerScope,
} from "../state/context/any-database.js";
import type { AnyHooks, DatabaseSettings } from "../state/context/database-settings.js";
import { kvWithContext } from "../state/context/kv/kv-with-context.js";
import { assertMaxReads } from "../state/context/read-meter.js";
import { type TableContext, tablesThrough, tablesWithin } from "../state/context/table-context.js";
import { linkRelations } from "../state/references/link-relations.js";
import { readStored } from "../state/rows/read-rows.js";
import type { RowMigration } from "../state/schema/define-migration.js";
import { relationTexts } from "../state/schema/manifests/model-manifest.js";
import {
  runScopedTransaction,
  type TransactionOptions,
} from "../state/transaction/run-scoped-transaction.js";
import type { TransactionKv } from "../state/transaction/transaction-kv.js";
import { assertFreePlaces } from "./assert-free-places.js";
import { Calls } from "./calls.js";
import type { AcceptedModels, IsStrict, NotStrict } from "./checked-models.js";
import type { Consume } from "./consume-types.js";
import type { DatabaseOptions } from "./database-options.js";
import type { JobsOf, TransactionJobs } from "./job-database-types.js";
import { composed } from "./middleware.js";
import type { Repository } from "./repository/repository.js";
import { RowOperations } from "./repository/row-operations.js";
import { type AnyConsumeOptions, type AnyDelivery, runConsumer } from "./run-consumer.js";
import { scopeTables } from "./scope/scope-tables.js";
import type { Scoping } from "./scope/scope-types.js";
import { type PastOptions, runPast } from "./snapshot/run-past.js";
import { runSnapshot, type SnapshotOptions } from "./snapshot/run-snapshot.js";
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

/**
 * Opens a database with models on a key-value database, either one that `openKv` has opened or a
 * Deno KV. A model that the key-value database does not contain yet is added to its catalog. A new
 * index of a model that it already contains is built by `migrate`. With `readOnly`, nothing is written.
 *
 * ```ts
 * const db = await createDatabase({ kv: await openKv("./data"), models: { users: User } });
 * const ada = await db.users.create({
 *   data: { email: "ada@example.com", favoriteColor: "green" },
 * });
 * ```
 *
 * @throws {ModelDefinitionError} if a model is not valid, if two models or indexes would store
 * their entries in the same place, also if only the database has one of them, or if a relation
 * names a model or field that does not exist.
 * @throws {InvalidArgumentError} if an option is not valid.
 * @throws {StaleSchemaError} if the catalog has a later format than this version can read.
 */
export async function createDatabase<
  const M extends Models,
  const J extends AnyJobs | undefined = undefined,
>(
  options: DatabaseOptions<M, J> & { readonly kv: KvLike; readonly models: AcceptedModels<M> },
): Promise<Database<M, J>> {
  return await openModels<M, J>(options as typeof options & { readonly models: M });
}

/**
 * The same as `createDatabase`, for generated code. The types of the relations are not checked,
 * because the models were checked when the code was generated.
 *
 * @throws the errors of `createDatabase`.
 */
export async function openModels<M extends Models, J extends AnyJobs | undefined = undefined>(
  options: DatabaseOptions<M, J> & { readonly kv: KvLike; readonly models: M },
): Promise<Database<M, J>> {
  assertOptions(options);
  // A `KvLike` may return keys with other kinds of parts, but the ORM reads only keys that it has
  // written.
  const kv = options.readOnly ? readOnlyKv(options.kv as Kv) : (options.kv as Kv);
  const { keyOrder, limits } = capabilitiesOf(kv);
  const names = new Map<string, string>();
  const jobs = options.jobs && compileJobs(options.jobs);
  const models = Object.entries<Model>(options.models).map(([name, model]) => {
    const compiled = compileModel(model, keyOrder);
    if (methodNames.has(name) || (jobs !== undefined && jobMethodNames.has(name))) {
      throw new ModelDefinitionError(compiled.name, "name", "a database has a method of this name");
    }
    if (name === "__proto__")
      throw new ModelDefinitionError(
        compiled.name,
        "name",
        "models cannot have the name __proto__",
      );
    names.set(compiled.name, name);
    return compiled;
  });
  if (jobs !== undefined) models.push(compileModel(jobModel, keyOrder));
  assertDistinctPrefixes(models);
  const links = linkRelations(models);
  const settings = settingsOf(options, names, jobs);
  const readAt = performance.now();
  const entries = await readStored({ kv, limits }, models.map(catalogKey));
  const added = models.filter((_, i) => entries[i]!.versionstamp === null);
  await assertFreePlaces(kv, added, models);
  const tables = new Map<string, TableContext>();
  const opened = await Promise.allSettled(
    models.map(async (model, i): Promise<TableContext> => {
      const catalog = await ModelCatalog.open(kv, model, {
        migrations: migrationsOf(model, options.migrations),
        relations: relationTexts(model, models),
        stored: { entry: entries[i] as KvEntryMaybe<CatalogEntry>, readAt },
      });
      const modelLinks = links.get(model.name)!;
      const context = { kv, model, catalog, limits, settings, links: modelLinks, tables };
      return { ...context, transaction: undefined };
    }),
  );
  for (const result of opened) {
    if (result.status === "rejected") throw result.reason;
    tables.set(result.value.model.name, result.value);
  }
  await recordUnguardedCopies(tables);
  for (const context of isReadOnlyKv(kv) ? [] : tables.values()) {
    context.catalog.resolvePending = (index) => resolvePendingIndex(context, index);
  }
  const database = rootDatabase(kv, tables, names, jobs);
  registerDatabase(database, tables);
  return database as Database<M, J>;
}

/**
 * Returns a database with `transaction`, `snapshot` and `scope`.
 *
 * @param register makes the database of a transaction known to functions that take a database.
 */
function rootDatabase(
  kv: Kv,
  tables: Tables,
  names: ModelNames,
  jobs: CompiledJobs | undefined,
  register = registerDatabase,
): AnyDatabase {
  const runTransactionOf = async <T>(
    body: (tx: AnyDatabase) => Promise<T>,
    transactionOptions?: TransactionOptions,
    beginCommit?: () => AtomicOperation,
    around?: (within: Tables, runBody: () => Promise<T>) => Promise<T>,
  ): Promise<T> => {
    assertArgument("", "argument", body, functionOf(" of tx"), "transaction");
    const run = (tx: TransactionKv) => {
      const within = tablesWithin(tables, tx);
      const inner = databaseOf(within, names, {
        scope: (values: unknown) => scoped(within, values, withJobs),
        ...jobsOf(within),
      });
      register(inner, within);
      return around === undefined ? body(inner) : around(within, () => body(inner));
    };
    const models = () => [...tables.values()].map(({ model }) => model);
    return await runScopedTransaction(kv, run, { ...transactionOptions, models, beginCommit });
  };
  const transaction = <T>(
    body: (tx: AnyDatabase) => Promise<T>,
    transactionOptions?: TransactionOptions,
  ) => runTransactionOf(body, transactionOptions);
  const consume = async (
    name: string,
    handler: (delivery: AnyDelivery) => Promise<void> | void,
    consumeOptions?: AnyConsumeOptions,
  ): Promise<void> => {
    assertArgument("", "argument", handler, functionOf(" of a delivery"), "consume");
    const transactionBy =
      (begin: () => AtomicOperation) =>
      <T>(body: (tx: AnyDatabase) => Promise<T>, of?: TransactionOptions) =>
        runTransactionOf(body, of, begin);
    await runConsumer({ kv, tables, names, transactionBy }, name, handler, consumeOptions);
  };
  const scope = (values: unknown) =>
    scoped(tables, values, (...of) => rootDatabase(kv, ...of, jobs, registerScope));
  const jobsOf = (within: Tables) => jobs !== undefined && { jobs: jobQueues(within, jobs) };
  const withJobs = (within: Tables, kept: ModelNames) =>
    databaseOf(within, kept, jobsOf(within) || {});
  const scoped = (
    of: Tables,
    values: unknown,
    create: (tables: Tables, names: ModelNames) => AnyDatabase,
  ): AnyDatabase => {
    const within = scopeTables(of, values);
    const kept = within.names.map((name) => [name, names.get(name)!] as const);
    const database = create(within.tables, new Map(kept));
    registerScope(database, within.tables);
    return database;
  };
  const snapshot = async <T>(
    body: (view: object) => Promise<T>,
    snapshotOptions?: SnapshotOptions,
  ): Promise<T> => {
    assertArgument("", "argument", body, functionOf(" of view"), "snapshot");
    return await runSnapshot(kv, tables, (within) => body(registered(within)), snapshotOptions);
  };
  const at = async <T>(
    moment: string | Date,
    body: (past: object) => Promise<T>,
    pastOptions?: PastOptions,
  ): Promise<T> => {
    assertArgument("", "argument", body, functionOf(" of past"), "at");
    return await runPast(kv, tables, moment, (within) => body(registered(within)), pastOptions);
  };
  const registered = (within: Tables): AnyDatabase => {
    const view = viewOf(within, names);
    registerScope(view, within);
    return view;
  };
  const viewOf = (of: Tables, kept: ModelNames): AnyDatabase =>
    databaseOf(of, kept, {
      scope: (values: unknown) => scoped(of, values, viewOf),
      transaction: () => refuseInSnapshot("transaction"),
      snapshot: () => refuseInSnapshot("snapshot"),
    });
  const withContext = (context: unknown) => {
    const said = kvWithContext(kv, context);
    const within = tablesThrough(tables, said);
    const database = rootDatabase(said, within, names, jobs, registerScope);
    registerScope(database, within);
    return database;
  };
  const runJob: RunTransaction = (around, body, of) =>
    runTransactionOf(body, of, undefined, around);
  const work = (handlers: unknown, workOptions: WorkOptions = {}) => {
    const context = tables.get(jobModel.name)!;
    assertUnscoped(context, "work");
    return startWorker({ kv, context, jobs: jobs!, runTransaction: runJob }, handlers, workOptions);
  };
  return databaseOf(tables, names, {
    ...{ transaction, snapshot, at, consume, scope, withContext },
    ...jobsOf(tables),
    ...(jobs !== undefined && { work }),
  });
}

async function refuseInSnapshot(call: string): Promise<never> {
  throw new SnapshotReadOnlyError("", call);
}

/** Names that models cannot have in the program. */
const methodNames: ReadonlySet<string> = new Set([
  ...["transaction", "snapshot", "at", "consume", "scope", "withContext"],
]);

/** Names that models cannot have if the database has jobs. */
const jobMethodNames: ReadonlySet<string> = new Set(["jobs", "work"]);

type Tables = ReadonlyMap<string, TableContext>;
/** The names of models in the program, by the `name` of each. */
type ModelNames = ReadonlyMap<string, string>;

/** The options as a program without types may pass them. */
interface UntypedOptions {
  readonly kv?: unknown;
  readonly models?: unknown;
  readonly readOnly?: unknown;
  readonly hooks?: object | undefined;
  readonly migrations?: unknown;
  readonly onQuery?: unknown;
  readonly jobTracing?: unknown;
  readonly middleware?: unknown;
  readonly jobs?: unknown;
}

const optionNames: Readonly<Record<keyof DatabaseOptions<never> | "kv" | "models", true>> = {
  kv: true,
  models: true,
  maxReads: true,
  validateReads: true,
  readOnly: true,
  migrations: true,
  hooks: true,
  jobs: true,
  middleware: true,
  onQuery: true,
  jobTracing: true,
};

const noTracing = { current: () => null, run: () => null };

/**
 * @throws {InvalidArgumentError} if an option is missing, unknown or not valid. The error names no
 * model.
 */
function assertOptions(options: UntypedOptions): void {
  const fail = (argument: string, reason: string): never => {
    throw new InvalidArgumentError("", argument, reason, "createDatabase");
  };
  if (typeof options !== "object" || options === null) fail("argument", "it must be an object");
  const { kv, models, hooks, migrations = [], onQuery, middleware = [], jobs = {} } = options;
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(optionNames, name)) continue;
    fail(name, `there is no such option; ${optionAdvice(name, Object.keys(optionNames))}`);
  }
  if (!["undefined", "boolean"].includes(typeof options.readOnly))
    fail("readOnly", "it must be true or false");
  const isKv = typeof kv === "object" && kv !== null && "atomic" in kv;
  if (kv instanceof Promise) fail("kv", "it is a promise; write kv: await openKv(…)");
  if (!isKv) fail("kv", "it must be a database that openKv or Deno.openKv has opened");
  if (typeof models !== "object" || models === null || Array.isArray(models)) {
    fail("models", "it has to be an object: { users: User }");
  }
  for (const [name, model] of Object.entries(models as object)) {
    if (!isModel(model)) fail(`models.${name}`, "it has to be what defineModel returned");
  }
  if (!isPlainObject(jobs)) fail("jobs", "it has to be an object: { sendMail: SendMail }");
  for (const name of Object.keys(hooks ?? {})) {
    if (!Object.hasOwn(models as object, name)) fail(`hooks.${name}`, "there is no such model");
  }
  if (!Array.isArray(migrations)) fail("migrations", "it has to be a list");
  for (const [position, migration] of (migrations as readonly RowMigration[]).entries()) {
    const at = `migrations[${position}]`;
    if (typeof migration?.up !== "function") fail(at, "it has to be what defineMigration returned");
  }
  if (onQuery !== undefined && typeof onQuery !== "function") {
    fail("onQuery", "it has to be a function");
  }
  const { current, run } = (options.jobTracing ?? noTracing) as Readonly<Record<string, unknown>>;
  if (typeof current !== "function" || typeof run !== "function")
    fail("jobTracing", "it has to be what traceJobs returned");
  for (const each of Array.isArray(middleware) ? middleware : [middleware]) {
    if (typeof each !== "function")
      fail("middleware", "it has to be a function, or a list of them");
  }
}

function migrationsOf(
  model: CompiledModel,
  migrations: readonly RowMigration[] = [],
): readonly RowMigration[] {
  return migrations.filter((migration) => migration.model === model.name);
}

function databaseOf(tables: Tables, names: ModelNames, methods: object = {}): AnyDatabase {
  const repositories: Record<string, RowOperations> = {};
  for (const [modelName, name] of names) {
    const context = tables.get(modelName);
    if (context !== undefined) repositories[name] = new RowOperations(new Calls(context));
  }
  return Object.freeze({ ...repositories, ...methods });
}

function settingsOf<M extends Models>(
  options: Omit<DatabaseOptions<M>, "jobs" | "hooks"> & { readonly hooks?: object | undefined },
  names: ReadonlyMap<string, string>,
  jobs: CompiledJobs | undefined,
): DatabaseSettings {
  const { maxReads = Number.POSITIVE_INFINITY, validateReads = false, onQuery } = options;
  assertMaxReads("", maxReads);
  // Hooks are typed for their model. The code that calls them passes rows that the model's schema
  // has produced.
  const hooksByName = (options.hooks ?? {}) as Readonly<Record<string, AnyHooks | undefined>>;
  const hooks: Record<string, AnyHooks> = Object.create(null);
  for (const [modelName, name] of names) {
    const modelHooks = hooksByName[name];
    if (modelHooks !== undefined) hooks[modelName] = modelHooks;
  }
  const databaseWithin: DatabaseSettings["databaseWithin"] = (tables) =>
    databaseOf(
      tables as ReadonlyMap<string, TableContext>,
      names,
      jobs && { jobs: jobQueues(tables as ReadonlyMap<string, TableContext>, jobs) },
    );
  const { middleware = [] } = options;
  return {
    maxReads,
    validateReads,
    onQuery,
    jobTracing: options.jobTracing,
    hooks,
    databaseWithin,
    middleware: composed(typeof middleware === "function" ? [middleware] : middleware),
  };
}
