import type { KvKey, KvKeyPart } from "@keywright/core";
import { IndexKeyError } from "../errors/row-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { entryValue } from "./entry-value.js";
import { isPromise } from "./is-promise.js";
import { descendingPart, isSameKey, isSamePart, keyPartOf } from "./key-parts.js";
import { keyText, partText } from "./key-text.js";
import { pointerOf } from "./primary-key.js";

/** One entry of an index: what is stored for a row. */
export interface IndexEntry {
  readonly index: CompiledIndex;
  readonly key: KvKey;
  /** A pointer to the row, the row itself or some of its fields, as the index stores it. */
  readonly value: unknown;
}

/** So many keys are compared with each other; texts of them are made where there are more. */
const few = 8;

/** What a write has to do to the indexes. */
export interface IndexChanges {
  /** Entries to take away. */
  readonly removed: readonly IndexEntry[];
  /** Entries to put there. */
  readonly added: readonly IndexEntry[];
  /** Entries that stay where they are and hold something of the row that may have changed. */
  readonly rewritten: readonly IndexEntry[];
}

/**
 * The part of a key that an index holds for a value of one of its parts.
 *
 * @param position of the part in the index's key.
 * @throws {IndexKeyError} for a value that cannot be part of a key.
 */
export function indexedPart(
  model: CompiledModel,
  index: CompiledIndex,
  position: number,
  value: unknown,
): KvKeyPart {
  const { field, descending, normalize } = index.parts[position]!;
  let cause: unknown;
  let isAwaited = false;
  try {
    const held = normalize === undefined ? value : normalize(value);
    const part = keyPartOf(held);
    if (part !== undefined) return descending ? descendingPart(part) : part;
    isAwaited = isPromise(held);
  } catch (error) {
    cause = error;
  }
  const valueType = isAwaited ? "promise" : typeof value;
  throw new IndexKeyError(model.name, index.name, field, valueType, { cause });
}

/** The key of the entry with these parts: a unique index has one row for them, another one adds the primary key. */
export function indexKey(
  index: CompiledIndex,
  parts: readonly KvKeyPart[],
  primaryKey: readonly KvKeyPart[],
): KvKey {
  const prefix: KvKeyPart[] = [index.prefix];
  return index.unique ? prefix.concat(parts) : prefix.concat(parts, primaryKey);
}

/**
 * The keys that a row has in an index: none where a part is absent, or where the index does not hold the row; several
 * where a part is an array, one for each of its different elements.
 *
 * @throws {IndexKeyError} for a value that cannot be part of a key, and where a function of the index throws.
 */
export function indexKeys(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): KvKey[] {
  if (!holds(model, index, row)) return [];
  const values = index.parts.map((_, position) => partValue(model, index, position, row));
  if (values.some(isAbsent)) return [];
  if (index.each === undefined) return [keyOf(model, index, values, primaryKey)];
  const elements = values[index.each];
  if (!Array.isArray(elements)) {
    const valueType = isPromise(elements) ? "promise" : typeof elements;
    throw new IndexKeyError(model.name, index.name, index.fields[index.each]!, valueType);
  }
  const keys: KvKey[] = [];
  // By what the element comes to: the rest of the key is the same for all of them.
  const seen = elements.length > few ? new Set<string>() : undefined;
  for (const element of elements) {
    if (isAbsent(element)) continue;
    const key = keyOf(model, index, values.with(index.each, element), primaryKey);
    if (seen === undefined) {
      if (!keys.some((other) => isSameKey(other, key))) keys.push(key);
      continue;
    }
    const text = partText(key[1 + index.each]!);
    if (seen.has(text)) continue;
    seen.add(text);
    keys.push(key);
  }
  return keys;
}

/** Whether a key is the one that a row has in an index without `each`, found out without making that key. */
function isOnlyKey(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
  key: KvKey,
): boolean {
  const { parts, unique } = index;
  if (key.length !== 1 + parts.length + (unique ? 0 : primaryKey.length)) return false;
  if (!holds(model, index, row)) return false;
  for (let i = 0; i < parts.length; i++) {
    const value = partValue(model, index, i, row);
    if (isAbsent(value)) return false;
    if (!isSamePart(indexedPart(model, index, i, value), key[1 + i])) return false;
  }
  if (unique) return true;
  for (let i = 0; i < primaryKey.length; i++) {
    if (!isSamePart(primaryKey[i], key[1 + parts.length + i])) return false;
  }
  return true;
}

/**
 * Whether an index is for a row, as far as its `where` says.
 *
 * @throws {IndexKeyError} where it answers with a promise, which would take every row.
 */
function holds(model: CompiledModel, index: CompiledIndex, row: AnyRow): boolean {
  const { where } = index;
  if (where === undefined) return true;
  const answer: unknown = call(model, index, "where", () => where(row));
  if (!isPromise(answer)) return Boolean(answer);
  throw new IndexKeyError(model.name, index.name, "where", "promise");
}

/** Whether a value is one that no index holds. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** What a row has for a part of an index's key. */
function partValue(
  model: CompiledModel,
  index: CompiledIndex,
  position: number,
  row: AnyRow,
): unknown {
  const { field, compute } = index.parts[position]!;
  return compute === undefined ? row[field] : call(model, index, field, () => compute(row));
}

function keyOf(
  model: CompiledModel,
  index: CompiledIndex,
  values: readonly unknown[],
  primaryKey: readonly KvKeyPart[],
): KvKey {
  const parts = values.map((value, position) => indexedPart(model, index, position, value));
  return indexKey(index, parts, primaryKey);
}

/** Calls a function of the index's definition. */
function call<T>(model: CompiledModel, index: CompiledIndex, field: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw new IndexKeyError(model.name, index.name, field, "unknown", { cause });
  }
}

/**
 * The entries that a row has in some of its model's indexes.
 *
 * @throws {IndexKeyError} for a value that cannot be part of a key; it names the row.
 */
export function indexEntries(
  model: CompiledModel,
  indexes: readonly CompiledIndex[],
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): IndexEntry[] {
  const entries: IndexEntry[] = [];
  for (const index of indexes) {
    const keys = keysOfRow(model, index, row, primaryKey);
    if (keys.length === 0) continue;
    const value = entryValue(index, row, primaryKey);
    for (const key of keys) entries.push({ index, key, value });
  }
  return entries;
}

/**
 * Whether a row has the same entries in an index before and after a change, as far as that is plain to see: it holds pointers,
 * by fields that are as they were.
 */
export function isUntouched(index: CompiledIndex, before: AnyRow, after: AnyRow): boolean {
  if (index.store !== "pointer" || index.where !== undefined) return false;
  for (const { field, compute } of index.parts) {
    if (compute !== undefined || !Object.is(before[field], after[field])) return false;
  }
  return true;
}

/** What changes in the indexes when the entries of a row's old state give way to those of its new state. */
export function indexChanges(
  before: readonly IndexEntry[],
  after: readonly IndexEntry[],
): IndexChanges {
  if (before.length === 0) return { removed: [], added: after, rewritten: [] };
  if (after.length === 0) return { removed: before, added: [], rewritten: [] };
  const textsBefore = textsOfMany(before);
  const textsAfter = textsOfMany(after);
  const removed: IndexEntry[] = [];
  const added: IndexEntry[] = [];
  const rewritten: IndexEntry[] = [];
  for (const entry of before) {
    if (!isAmong(entry, after, textsAfter)) removed.push(entry);
  }
  for (const entry of after) {
    if (!isAmong(entry, before, textsBefore)) added.push(entry);
    else if (entry.index.store !== "pointer") rewritten.push(entry);
  }
  return { removed, added, rewritten };
}

/** The texts of entries by which one is found among them; undefined where they are few, and compared one by one. */
function textsOfMany(entries: readonly IndexEntry[]): ReadonlySet<string> | undefined {
  return entries.length > few ? new Set(entries.map(entryText)) : undefined;
}

function isAmong(
  entry: IndexEntry,
  others: readonly IndexEntry[],
  texts: ReadonlySet<string> | undefined,
): boolean {
  if (texts !== undefined) return texts.has(entryText(entry));
  for (const { index, key } of others) {
    if (index === entry.index && isSameKey(key, entry.key)) return true;
  }
  return false;
}

function entryText({ index, key }: IndexEntry): string {
  return `${index.name.length}:${index.name}${keyText(key)}`;
}

/** The same as {@link indexKeys}, whose errors then name the row. */
function keysOfRow(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): KvKey[] {
  try {
    return indexKeys(model, index, row, primaryKey);
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
    if (index.each === undefined) return isOnlyKey(model, index, row, primaryKey, key);
    return indexKeys(model, index, row, primaryKey).some((own) => isSameKey(own, key));
  } catch (error) {
    // A row written by hand, with a value that the index cannot hold, has no key in it.
    if (error instanceof IndexKeyError) return false;
    throw error;
  }
}
