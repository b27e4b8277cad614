import type { Kv, KvKey, KvKeyPart, Progress } from "@keywright/core";
import type { RowId } from "../../errors/orm-error.js";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import {
  count,
  key,
  keyPart,
  listOf,
  nullable,
  object,
  optional,
  type Shape,
  text,
} from "../../model/shape.js";
import { readSystemValue, type SystemShape } from "./system-value.js";

/**
 * The progress of the backfill of a model's new indexes, stored next to the catalog entry. It is
 * written by the commit that begins the backfill, by the commit of each batch, and by the commit
 * that ends the scan. The commit that ends the backfill deletes it. A run that was stopped at any
 * point therefore resumes after the last batch.
 */
export interface BackfillState {
  readonly format: 1;
  /** Distinguishes this backfill from earlier and later ones. */
  readonly id: string;
  /** The indexes that this scan of the rows fills. */
  readonly indexes: readonly string[];
  /** The primary key of the last row that has been processed. Null before the first row. */
  readonly after: readonly KvKeyPart[] | null;
  readonly rowsDone: number;
  /** The number of rows when the backfill began. Absent if they were not counted. */
  readonly rowsTotal?: number;
  /** Set when the scan has ended. The entries that it wrote are then verified. */
  readonly isScanned?: true;
  /** Absent if there are none. */
  readonly unindexed?: UnindexedRows;
}

/** Returns a stored progress as it is reported. Its rate is not stored. */
export function storedProgress<Phase extends string>(
  phase: Phase,
  { rowsDone, rowsTotal }: { readonly rowsDone: number; readonly rowsTotal?: number },
): Progress<Phase> {
  return { phase, done: rowsDone, total: rowsTotal, perSecond: 0 };
}

/**
 * Rows that some of a model's indexes cannot hold. They were written by hand, or before the model
 * had an index whose function throws for them. A program that knows the index cannot write such
 * rows.
 */
export interface UnindexedRows {
  readonly count: number;
  /** The first of these rows, at most 100. */
  readonly rows: readonly UnindexedRow[];
}

/** A row that is missing from at least one index that should contain it. */
export interface UnindexedRow {
  readonly model: string;
  readonly id: RowId;
  /** The names of the indexes that cannot hold the row. */
  readonly indexes: readonly string[];
  readonly reason: string;
}

export const unindexedRowsShape: Shape = object({
  count,
  rows: listOf(object({ model: text, indexes: listOf(text), reason: text })),
});

const backfillShape: SystemShape<BackfillState> = {
  problemOf: object({
    id: text,
    indexes: listOf(text),
    after: nullable(key),
    rowsDone: count,
    rowsTotal: optional(count),
    unindexed: optional(unindexedRowsShape),
  }),
  remedy: "delete it, and run migrate again",
};

export function backfillKey(model: CompiledModel): KvKey {
  return [systemPrefix, "backfill", model.prefix];
}

export async function readBackfill(kv: Kv, model: CompiledModel): Promise<BackfillState | null> {
  return await readSystemValue(kv, backfillKey(model), backfillShape, model.name);
}

/**
 * The rows that a backfill has left out. The commit that ends the backfill writes this record. It
 * is kept until a migration run has completed and returned the rows. This may be a later run than
 * the one that ended the backfill.
 */
export interface UnreportedRows {
  readonly format: 1;
  /** The indexes that the backfill filled. */
  readonly indexes: readonly string[];
  readonly unindexed: UnindexedRows;
}

export const unreportedShape: SystemShape<UnreportedRows> = {
  problemOf: object({ indexes: listOf(text), unindexed: unindexedRowsShape }),
  remedy: "delete it, and run migrate again",
};

export function unreportedPrefix(model: CompiledModel): KvKey {
  return [systemPrefix, "unreported", model.prefix];
}

/** Returns the key of the `UnreportedRows` of one backfill, by the id of the backfill. */
export function unreportedKey(model: CompiledModel, id: string): KvKey {
  return [...unreportedPrefix(model), id];
}

/** A row that could not enter a unique index, because another row has its key. */
export interface Duplicate {
  readonly model: string;
  readonly index: string;
  /** The values of the index's fields, as the index stores them. */
  readonly value: readonly KvKeyPart[];
  /** The primary key of the row that is not in the index. */
  readonly primaryKey: readonly KvKeyPart[];
}

export const duplicateShape: SystemShape<Duplicate> = {
  problemOf: object({
    model: text,
    index: text,
    value: listOf(keyPart),
    primaryKey: listOf(keyPart),
  }),
  remedy: "delete it, and run verify",
};

export function duplicatesPrefix(model: CompiledModel, indexName: string): KvKey {
  return [systemPrefix, "duplicates", model.prefix, indexName];
}

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
