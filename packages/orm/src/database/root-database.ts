import type { AtomicOperation, Kv } from "@keywright/core";
import { SnapshotReadOnlyError } from "../errors/transaction-errors.js";
import { type CompiledJobs, jobQueues } from "../jobs/job-queues.js";
import { assertUnscoped } from "../jobs/scoped-queue.js";
import { jobModel } from "../jobs/store/job-model.js";
import type { RunTransaction } from "../jobs/work/job-run.js";
import { startWorker } from "../jobs/work/job-worker.js";
import type { WorkOptions } from "../jobs/work/work-types.js";
import { assertArgument, functionOf } from "../model/shape.js";
import {
  type AnyDatabase,
  registerDatabase,
  registerScope,
} from "../state/context/any-database.js";
import { kvWithContext } from "../state/context/kv/kv-with-context.js";
import { type TableContext, tablesThrough, tablesWithin } from "../state/context/table-context.js";
import {
  runScopedTransaction,
  type TransactionOptions,
} from "../state/transaction/run-scoped-transaction.js";
import type { TransactionKv } from "../state/transaction/transaction-kv.js";
import { Calls } from "./calls.js";
import { RowOperations } from "./repository/row-operations.js";
import { type AnyConsumeOptions, type AnyDelivery, runConsumer } from "./run-consumer.js";
import { scopeTables } from "./scope/scope-tables.js";
import { type PastOptions, runPast } from "./snapshot/run-past.js";
import { runSnapshot, type SnapshotOptions } from "./snapshot/run-snapshot.js";

/**
 * Returns a database with `transaction`, `snapshot` and `scope`.
 *
 * @param register makes the database of a transaction known to functions that take a database.
 */
export function rootDatabase(
  kv: Kv,
  tables: Tables,
  names: ModelNames,
  jobs: CompiledJobs | undefined,
  register: typeof registerDatabase = registerDatabase,
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
export const methodNames: ReadonlySet<string> = new Set([
  ...["transaction", "snapshot", "at", "consume", "scope", "withContext"],
]);

/** Names that models cannot have if the database has jobs. */
export const jobMethodNames: ReadonlySet<string> = new Set(["jobs", "work"]);

type Tables = ReadonlyMap<string, TableContext>;
/** The names of models in the program, by the `name` of each. */
type ModelNames = ReadonlyMap<string, string>;

export function databaseOf(tables: Tables, names: ModelNames, methods: object = {}): AnyDatabase {
  const repositories: Record<string, RowOperations> = {};
  for (const [modelName, name] of names) {
    const context = tables.get(modelName);
    if (context !== undefined) repositories[name] = new RowOperations(new Calls(context));
  }
  return Object.freeze({ ...repositories, ...methods });
}
