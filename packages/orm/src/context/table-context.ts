import type { Kv, KvLimits } from "@keywright/core";
import type { ModelCatalog } from "../catalog/model-catalog.js";
import type { CompiledModel } from "../model/compiled-model.js";
import type { LinkedRelations } from "../model/linked-relations.js";
import type { TransactionKv } from "../transaction/transaction-kv.js";
import type { DatabaseSettings } from "./database-settings.js";

/** What reading and writing a model's rows needs. */
export interface TableContext {
  /** The database, or the transaction that reads and writes go through. */
  readonly kv: Kv;
  readonly model: CompiledModel;
  readonly catalog: ModelCatalog;
  readonly limits: TableLimits;
  readonly settings: DatabaseSettings;
  /** The model's relations with the models that they lead to, and who refers to it. */
  readonly links: LinkedRelations;
  /** The tables of the same database, or of the same transaction, by the model's own name. */
  readonly tables: ReadonlyMap<string, TableContext>;
  /** The same as `kv` within a transaction. */
  readonly transaction: TransactionKv | undefined;
}

/** How much a database takes at once, as far as it matters here. */
export type TableLimits = Pick<
  KvLimits,
  "checks" | "mutations" | "keys" | "keyBytes" | "batchSize"
>;

/** The tables of a database as a transaction sees them. */
export function tablesWithin(
  tables: ReadonlyMap<string, TableContext>,
  transaction: TransactionKv,
): ReadonlyMap<string, TableContext> {
  const within = new Map<string, TableContext>();
  for (const [name, context] of tables) {
    within.set(name, { ...context, kv: transaction, transaction, tables: within });
  }
  return within;
}
