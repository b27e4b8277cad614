import type { KvKey, KvKeyPart } from "@keywright/core";
import type { RowId } from "../errors/orm-error.js";
import { type CompiledModel, ownPrefix } from "../model/compiled-model.js";

/**
 * How far the backfill of a model's new indexes has come, stored beside the catalog. It is written by the commit that
 * begins the backfill, by each of its batches and by the one that ends its scan, and goes with the commit that ends the
 * backfill. So a run that was stopped anywhere goes on behind its last batch.
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
  /** Rows that were there when the backfill began; absent where they were not counted. */
  readonly rowsTotal?: number;
  /** The scan is over: what it wrote is to be looked at. */
  readonly isScanned?: true;
  /** Absent where there is none. */
  readonly unindexed?: UnindexedRows;
}

/**
 * Rows that some of a model's indexes cannot hold: written by hand, or before there was an index whose function throws for
 * them. A program that knows the index cannot write such rows.
 */
export interface UnindexedRows {
  readonly count: number;
  /** The first of them, a hundred at the most. */
  readonly rows: readonly UnindexedRow[];
}

/** A row that is not in all indexes that should have it. */
export interface UnindexedRow {
  readonly model: string;
  readonly id: RowId;
  /** The names of the indexes. */
  readonly indexes: readonly string[];
  readonly reason: string;
}

export function backfillKey(model: CompiledModel): KvKey {
  return [ownPrefix, "backfill", model.prefix];
}

/**
 * What a backfill that has ended has left out, until a run of the migration has ended too and returned it: that may be a later
 * one. It is written by the commit that ends the backfill.
 */
export interface UnreportedRows {
  readonly format: 1;
  /** The indexes that were filled. */
  readonly indexes: readonly string[];
  readonly unindexed: UnindexedRows;
}

/** Where it is written down what the backfills of a model have left out. */
export function unreportedPrefix(model: CompiledModel): KvKey {
  return [ownPrefix, "unreported", model.prefix];
}

/** The same of one backfill, by its id. */
export function unreportedKey(model: CompiledModel, id: string): KvKey {
  return [...unreportedPrefix(model), id];
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

/** Where the duplicates of an index are written down. */
export function duplicatesPrefix(model: CompiledModel, indexName: string): KvKey {
  return [ownPrefix, "duplicates", model.prefix, indexName];
}

/** Where those are written down that have one value. */
export function duplicatesOfValue(
  model: CompiledModel,
  indexName: string,
  value: readonly KvKeyPart[],
): KvKey {
  return [...duplicatesPrefix(model, indexName), ...value];
}

export function duplicateKey(model: CompiledModel, duplicate: Duplicate): KvKey {
  const { index, value, primaryKey } = duplicate;
  return [...duplicatesOfValue(model, index, value), ...primaryKey];
}
