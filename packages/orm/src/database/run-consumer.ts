import type { AtomicOperation, Kv, KvConsumeOptions, KvDelivery } from "@keywright/core";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { LogUnavailableError } from "../errors/transaction-errors.js";
import { logOf } from "../read/history/commit-log.js";
import {
  type AnyRowChange,
  decoderOf,
  type RowChangeDecoder,
  rowChangeOf,
} from "../read/history/row-changes.js";
import type { AnyDatabase } from "../state/context/any-database.js";
import type { TableContext } from "../state/context/table-context.js";
import type { TransactionOptions } from "../state/transaction/run-scoped-transaction.js";
import { withDeletedRows } from "../write/deleted/purging-context.js";

/** Options of `consume`, for any models. */
export interface AnyConsumeOptions extends Omit<KvConsumeOptions, "prefix"> {
  readonly models?: readonly string[] | undefined;
}

/** What the handler of `consume` gets, for any models. */
export interface AnyDelivery extends Pick<KvDelivery, "attempt" | "signal"> {
  readonly commit: Omit<KvDelivery["commit"], "changes"> & {
    readonly changes: readonly (AnyRowChange & { readonly model: string })[];
  };
  readonly transaction: Transaction;
}

type Transaction = (
  body: (tx: AnyDatabase) => Promise<unknown>,
  options?: TransactionOptions,
) => Promise<unknown>;

interface ConsumerSource {
  readonly kv: Kv;
  readonly tables: ReadonlyMap<string, TableContext>;
  /** The names of models in the program, by the `name` of each. */
  readonly names: ReadonlyMap<string, string>;
  /** Returns `transaction` of the database, whose commits are made by other operations. */
  readonly transactionBy: (begin: () => AtomicOperation) => Transaction;
}

interface NamedDecoder {
  readonly name: string;
  readonly decoder: RowChangeDecoder;
}

/**
 * Runs a consumer of the log that gets the changes of rows.
 *
 * @throws {LogUnavailableError} if the database cannot keep a log, as Deno KV.
 * @throws {InvalidArgumentError} if an option names a model that the database does not have.
 * @throws the errors of `kv.consume`.
 */
export async function runConsumer(
  { kv, tables, names, transactionBy }: ConsumerSource,
  consumer: string,
  handler: (delivery: AnyDelivery) => Promise<void> | void,
  { models, ...options }: AnyConsumeOptions = {},
): Promise<void> {
  if (kv.consume === undefined) throw new LogUnavailableError("");
  const decoders = new Map<unknown, NamedDecoder>();
  for (const [modelName, name] of names) {
    const table = tables.get(modelName);
    if (table === undefined || models?.includes(name) === false) continue;
    await table.catalog.assertSameKey();
    const decoder = decoderOf(withDeletedRows(table), logOf(table), {});
    decoders.set(table.model.place, { name, decoder });
  }
  assertModels(models, [...names.values()]);
  const [place, ...others] = decoders.keys();
  const prefix = others.length === 0 ? { prefix: [place as string] } : {};
  const handle = async (delivery: KvDelivery): Promise<void> => {
    const { attempt, signal } = delivery;
    const changes = await changesOf(delivery, decoders);
    if (changes.length === 0) return;
    const transaction = transactionBy(() => delivery.atomic());
    await handler({ attempt, signal, transaction, commit: { ...delivery.commit, changes } });
  };
  await kv.consume(consumer, handle, { ...options, ...prefix });
}

async function changesOf(
  { commit }: KvDelivery,
  decoders: ReadonlyMap<unknown, NamedDecoder>,
): Promise<(AnyRowChange & { readonly model: string })[]> {
  const changes: (AnyRowChange & { readonly model: string })[] = [];
  for (const change of commit.changes) {
    const found = decoders.get(change.key[0]);
    const decoded = found && (await rowChangeOf(found.decoder, change));
    if (decoded !== undefined) changes.push({ model: found!.name, ...decoded });
  }
  return changes;
}

function assertModels(models: readonly string[] | undefined, known: readonly string[]): void {
  if (models === undefined) return;
  const unknown = models.find((name) => !known.includes(name));
  if (unknown === undefined && models.length > 0) return;
  const reason =
    unknown === undefined
      ? "it must have at least one model"
      : `the database has no model ${unknown}; it has ${known.join(", ")}`;
  throw new InvalidArgumentError("", "models", reason, "consume");
}
