import type { KvConsumeOptions, KvDelivery } from "@keywright/core";
import type { AnyModels } from "../model/model.js";
import type { AnyDatabase } from "../state/context/any-database.js";
import type { TransactionOptions } from "../state/transaction/run-scoped-transaction.js";
import type { RowChange } from "./repository/history-types.js";
import type { Repository } from "./repository/repository.js";

/** Options of `consume` of a database. */
export interface RowConsumeOptions<K extends string> extends Omit<KvConsumeOptions, "prefix"> {
  /** The models whose rows are of interest, by their names in the program. All by default. */
  readonly models?: readonly K[] | undefined;
}

/** A change of a row of one of several models: `{ model: "users", type, key, before, after }`. */
export type ModelRowChange<M extends AnyModels, K extends keyof M = keyof M> = {
  [Name in K]: RowChange<M[Name]> & {
    /** The name of the model in the program. */
    readonly model: Name;
  };
}[K];

/** A commit that has changed rows. */
export interface ModelRowCommit<M extends AnyModels, K extends keyof M = keyof M> {
  readonly versionstamp: string;
  /** The time of the commit by the clock of the process that made it. */
  readonly time: Date;
  /** What `withContext` has said of the commit. */
  readonly context: unknown;
  /** At least one. Each row once. */
  readonly changes: readonly ModelRowChange<M, K>[];
}

/** Models → a database of a transaction. */
type TransactionOf<M extends AnyModels> = AnyDatabase & {
  readonly [K in keyof M]: Repository<M[K], M>;
};

/** What the handler of `consume` of a database gets. `Tx` is the database of its transactions. */
export interface RowDelivery<
  M extends AnyModels,
  K extends keyof M = keyof M,
  Tx = TransactionOf<M>,
> extends Pick<KvDelivery, "attempt" | "signal"> {
  readonly commit: ModelRowCommit<M, K>;
  /**
   * Runs a transaction of the database, whose commit also says that the commit of the log was
   * handled. A transaction that writes nothing does not say it.
   *
   * @throws {ConsumerLostError} if another process has the consumer by now, or if the commit was
   * handled before. Nothing was written.
   * @throws the errors of `transaction` of the database.
   */
  readonly transaction: <T>(
    body: (tx: Tx) => Promise<T>,
    options?: TransactionOptions,
  ) => Promise<T>;
}

/** The method `consume` of a database. */
export type Consume<M extends AnyModels, Tx = TransactionOf<M>> = <
  const K extends keyof M & string = keyof M & string,
>(
  name: string,
  handler: (delivery: RowDelivery<M, K, Tx>) => Promise<void> | void,
  options?: RowConsumeOptions<K>,
) => Promise<void>;
