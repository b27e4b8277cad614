import type { Kv, KvKey, KvKeyPart } from "@keywright/core";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import type { LinkedRelations } from "../../model/relations/linked-relations.js";
import type { ModelCatalog } from "../catalog/model-catalog.js";
import type { SnapshotKv } from "../snapshot/snapshot-kv.js";
import type { KeyId } from "../transaction/buffer/key-id.js";
import type { TransactionKv } from "../transaction/transaction-kv.js";
import type { DatabaseSettings } from "./database-settings.js";
import type { ModelStore } from "./model-store.js";
import type { Scope } from "./scope.js";

/** A model with its relations, as options and queries are checked against it. */
export interface RelatedModel {
  readonly model: CompiledModel;
  readonly settings: DatabaseSettings;
  readonly links: LinkedRelations;
  /** All models of the database, by their names. */
  readonly tables: ReadonlyMap<string, RelatedModel>;
  /** The values that all rows have that this context reads or writes. */
  readonly scope?: Scope | undefined;
  /** True if the model lacks a field of the scope, so that its rows can only be referred to. */
  readonly isOutside?: boolean | undefined;
}

/** One model, which of its rows a call sees, and the models to which it is related. */
export interface RelatedStore extends ModelStore, RelatedModel {
  readonly model: CompiledModel;
  readonly tables: ReadonlyMap<string, RelatedStore>;
  /** True if reads also return rows that are marked as deleted. */
  readonly withDeleted?: boolean | undefined;
  /** True if a delete removes a row that is marked as deleted. */
  readonly purges?: boolean | undefined;
  /** The rows that the same call restores. References to them are allowed before it has done so. */
  readonly restored?: RestoredRows | undefined;
}

/** What a call has: one model with its relations, and the transaction and the scope of the call. */
export interface TableContext extends RelatedStore {
  readonly tables: ReadonlyMap<string, TableContext>;
  readonly transaction: TransactionKv | undefined;
  /** The snapshot that the calls read, which cannot write. */
  readonly snapshot?: SnapshotKv | undefined;
  /** The time with which the deletion of several rows marks all of them. */
  readonly markedAt?: Date | undefined;
  /**
   * The unique keys of rows that the same call updates. Only for an update of rows in one commit.
   */
  readonly deferredKeys?: DeferredKeys | undefined;
}

/** Marked rows that one call restores. */
export interface RestoredRows {
  readonly ids: ReadonlySet<KeyId>;
  readonly time: Date;
}

/** Unique keys that rows take from rows that the same call updates after them. */
export interface DeferredKeys {
  /** True if a row may take a key from this row, whose own update must then release the key. */
  mayTakeFrom(owner: readonly KvKeyPart[]): boolean;
  /** Records that a row took a key from another one. */
  add(taken: TakenKey): void;
}

export interface TakenKey {
  readonly index: CompiledIndex;
  readonly key: KvKey;
  readonly owner: readonly KvKeyPart[];
}

/** Returns a context whose deletions mark rows with a time. */
export function markingAt(context: TableContext, markedAt: Date): TableContext {
  const tables = new Map<string, TableContext>();
  for (const [name, table] of context.tables) tables.set(name, { ...table, tables, markedAt });
  return { ...context, tables, markedAt };
}

/**
 * Returns the tables with which calls read a snapshot.
 *
 * @param catalogs those of an earlier state, by the names of the models. By default, the state has
 * the entries that were read last.
 */
export function tablesIn(
  tables: ReadonlyMap<string, TableContext>,
  snapshot: SnapshotKv,
  catalogs?: ReadonlyMap<string, ModelCatalog>,
): ReadonlyMap<string, TableContext> {
  const contexts = new Map<string, TableContext>();
  for (const [name, context] of tables) {
    const catalog = catalogs?.get(name) ?? context.catalog.heldIn(snapshot);
    contexts.set(name, { ...context, kv: snapshot, catalog, snapshot, tables: contexts });
  }
  return contexts;
}

/** Returns tables that write through another object for the same database. */
export function tablesThrough(
  tables: ReadonlyMap<string, TableContext>,
  kv: Kv,
): ReadonlyMap<string, TableContext> {
  const contexts = new Map<string, TableContext>();
  for (const [name, context] of tables) contexts.set(name, { ...context, kv, tables: contexts });
  return contexts;
}

/** Returns the tables with which calls read and write within a transaction. */
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
