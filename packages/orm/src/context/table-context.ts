import type { Kv, KvLimits } from "@keywright/core";
import type { ModelCatalog } from "../catalog/model-catalog.js";
import type { CompiledModel } from "../model/compiled-model.js";
import type { LinkedRelations } from "../model/linked-relations.js";
import type { TransactionKv } from "../transaction/transaction-kv.js";
import type { DatabaseSettings } from "./database-settings.js";

/** Everything that is needed to read and write a model's rows. */
export interface TableContext {
  /** The database, or the transaction that reads and writes go through. */
  readonly kv: Kv;
  readonly model: CompiledModel;
  readonly catalog: ModelCatalog;
  readonly limits: TableLimits;
  readonly settings: DatabaseSettings;
  /** The model's relations with their target models, and the references to the model. */
  readonly links: LinkedRelations;
  /** The tables of the same database, or of the same transaction, by model name. */
  readonly tables: ReadonlyMap<string, TableContext>;
  /** The transaction that `kv` is. Undefined outside a transaction. */
  readonly transaction: TransactionKv | undefined;
}

/** The limits of a database that matter to the ORM. */
export type TableLimits = Pick<
  KvLimits,
  "checks" | "mutations" | "keys" | "keyBytes" | "batchSize"
>;

export function tablesWithin(
  tables: ReadonlyMap<string, TableContext>,
  transaction: TransactionKv,
): ReadonlyMap<string, TableContext> {
  const contexts = new Map<string, TableContext>();
  for (const [name, context] of tables) {
    contexts.set(name, { ...context, kv: transaction, transaction, tables: contexts });
  }
  return contexts;
}
