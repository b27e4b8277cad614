import type { KvKey, KvKeyPart } from "@keywright/core";
import { IndexKeyError, type RowId } from "../errors/orm-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../model/compile-model.js";
import { isSameKey, keyPartOf } from "./key-parts.js";
import { pointerOf } from "./primary-key.js";

/** One entry of an index: what is stored for a row. */
export interface IndexEntry {
  readonly index: CompiledIndex;
  readonly key: KvKey;
  readonly value: RowId;
}

/** What a write has to do to the indexes: entries to take away, and entries to put there. */
export interface IndexChanges {
  readonly removed: readonly IndexEntry[];
  readonly added: readonly IndexEntry[];
}

/**
 * The values that a row has in an index's key; undefined where one of them is absent, for then the row is not in it.
 *
 * @throws {IndexKeyError} for a value that cannot be part of a key.
 */
function indexedValues(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
): KvKeyPart[] | undefined {
  const values: KvKeyPart[] = [];
  for (const field of index.fields) {
    const value = row[field];
    if (value === undefined || value === null) return undefined;
    values.push(indexedValue(model, index, field, value));
  }
  return values;
}

/**
 * What an index holds for a value of one of its fields.
 *
 * @throws {IndexKeyError} for a value that cannot be part of a key.
 */
export function indexedValue(
  model: CompiledModel,
  index: CompiledIndex,
  field: string,
  value: unknown,
): KvKeyPart {
  let cause: unknown;
  try {
    const part = keyPartOf(index.normalize === undefined ? value : index.normalize(value));
    if (part !== undefined) return part;
  } catch (error) {
    cause = error;
  }
  throw new IndexKeyError(model.name, index.name, field, typeof value, { cause });
}

/** The key of the entry with these values: a unique index has one row for them, another one adds the primary key. */
export function indexKey(
  index: CompiledIndex,
  values: readonly KvKeyPart[],
  primaryKey: readonly KvKeyPart[],
): KvKey {
  return index.unique ? [index.prefix, ...values] : [index.prefix, ...values, ...primaryKey];
}

/**
 * The entries that a row has in some of its model's indexes.
 *
 * @throws {IndexKeyError} for a value that cannot be part of a key.
 */
export function indexEntries(
  model: CompiledModel,
  indexes: readonly CompiledIndex[],
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): IndexEntry[] {
  const entries: IndexEntry[] = [];
  for (const index of indexes) {
    const values = valuesOfRow(model, index, row, primaryKey);
    if (values === undefined) continue;
    entries.push({
      index,
      key: indexKey(index, values, primaryKey),
      value: pointerOf(primaryKey),
    });
  }
  return entries;
}

/** What changes in the indexes when the entries of a row's old state give way to those of its new state. */
export function indexChanges(
  before: readonly IndexEntry[],
  after: readonly IndexEntry[],
): IndexChanges {
  const isIn = (entries: readonly IndexEntry[], entry: IndexEntry) =>
    entries.some((other) => other.index === entry.index && isSameKey(other.key, entry.key));
  return {
    removed: before.filter((entry) => !isIn(after, entry)),
    added: after.filter((entry) => !isIn(before, entry)),
  };
}

/** The same as {@link indexedValues}, whose errors then name the row. */
function valuesOfRow(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): KvKeyPart[] | undefined {
  try {
    return indexedValues(model, index, row);
  } catch (error) {
    if (!(error instanceof IndexKeyError)) throw error;
    const { field, valueType, cause } = error;
    const options = { id: pointerOf(primaryKey), cause };
    throw new IndexKeyError(model.name, index.name, field, valueType, options);
  }
}

/** Whether a row really has an entry of this key in an index: a pointer is believed only then. */
export function hasIndexKey(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
  key: KvKey,
): boolean {
  try {
    const values = indexedValues(model, index, row);
    return values !== undefined && isSameKey(indexKey(index, values, primaryKey), key);
  } catch (error) {
    // A row written by hand, with a value that the index cannot hold, has no key in it.
    if (error instanceof IndexKeyError) return false;
    throw error;
  }
}
