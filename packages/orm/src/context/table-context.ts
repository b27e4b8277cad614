import type { Kv, KvLimits } from "@keywright/core";
import type { ModelCatalog } from "../catalog/model-catalog.js";
import type { CompiledModel } from "../model/compiled-model.js";
import type { LinkedRelations } from "../model/linked-relations.js";
import type { TransactionKv } from "../transaction/transaction-kv.js";
import type { DatabaseSettings } from "./database-settings.js";

export interface TableContext {
  /** The database, or the transaction that reads and writes go through. */
  readonly kv: Kv;
  readonly model: CompiledModel;
  readonly catalog: ModelCatalog;
  readonly limits: TableLimits;
  readonly settings: DatabaseSettings;
  readonly links: LinkedRelations;
  readonly tables: ReadonlyMap<string, TableContext>;
  readonly transaction: TransactionKv | undefined;
}

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
