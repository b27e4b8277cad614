import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, ownPrefix } from "../model/compiled-model.js";

/**
 * How far the backfill of a model's new indexes has come, stored beside the catalog. It is written by the commit that
 * begins the backfill, by each of its batches and by the one that ends it, so that a run that was stopped anywhere goes
 * on behind its last batch, and of two runs at once only one can write a batch.
 */
export interface BackfillState {
  readonly format: 1;
  /** Tells this backfill from the one before it and the one after it. */
  readonly id: string;
  /** The indexes that this scan of the rows fills. */
  readonly indexes: readonly string[];
  /** The primary key of the last row that is done; null before the first. */
  readonly after: readonly KvKeyPart[] | null;
  readonly rowsDone: number;
  /** Rows that were there when the backfill began. */
  readonly rowsTotal: number;
}

export function backfillKey(model: CompiledModel): KvKey {
  return [ownPrefix, "backfill", model.prefix];
}

/** A row that could not enter a unique index, because another row has its key. */
export interface Duplicate {
  readonly model: string;
  readonly index: string;
  /** The values of the index's fields, as the index holds them. */
  readonly value: readonly KvKeyPart[];
  /** The primary key of the row that is not in the index. */
  readonly primaryKey: readonly KvKeyPart[];
}

export function duplicatesPrefix(model: CompiledModel, indexName: string): KvKey {
  return [ownPrefix, "duplicates", model.prefix, indexName];
}

export function duplicateKey(model: CompiledModel, duplicate: Duplicate): KvKey {
  return [...duplicatesPrefix(model, duplicate.index), ...duplicate.value, ...duplicate.primaryKey];
}
