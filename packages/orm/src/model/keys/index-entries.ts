import type { KvKey, KvKeyPart } from "@keywright/core";
import { IndexKeyError } from "../../errors/row-errors.js";
import { ModelDefinitionError } from "../../errors/schema-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../compiled-model.js";
import { entryValue } from "./entry-value.js";
import { ignoreRejection, isPromise } from "./is-promise.js";
import { descendingPart, isSameKey, isSamePart, type KeyParts, keyPartOf } from "./key-parts.js";
import { keyText, partText } from "./key-text.js";
import { pointerOf } from "./primary-key.js";
import { readableRow } from "./readable-row.js";

export interface IndexEntry {
  readonly index: CompiledIndex;
  readonly key: KvKey;
  /**
   * A pointer to the row, a copy of it, or some of its fields. For a text index, the row itself,
   * whose words are stored.
   */
  readonly value: unknown;
}

/**
 * The part of a key of a text index before the primary key. The words of a row are there until a
 * segment has them.
 */
const freshSection = "fresh";

/** The maximum number of keys that are compared one by one. More are looked up in a set. */
const maxPairwise = 8;

export interface IndexChanges {
  readonly removed: readonly IndexEntry[];
  readonly added: readonly IndexEntry[];
  /** Entries that keep their key. Their value contains data of the row, which may have changed. */
  readonly rewritten: readonly IndexEntry[];
}

/** Returns the key part that an index stores for a value at a position of its key. */
export function indexedPart(
  model: CompiledModel,
  index: CompiledIndex,
  position: number,
  value: unknown,
): KvKeyPart {
  const { field, descending, descendingOrder, normalize } = index.parts[position]!;
  let normalized = value;
  try {
    if (normalize !== undefined) normalized = normalize(value);
    const part = keyPartOf(normalized);
    if (part !== undefined) return descending ? descendingPart(part, descendingOrder) : part;
  } catch (cause) {
    const problem = isIllFormed(normalized) ? "surrogate" : undefined;
    throw new IndexKeyError(model.name, index.name, field, typeof value, { cause, problem });
  }
  refusePromise(model, index, field, normalized);
  throw new IndexKeyError(model.name, index.name, field, typeof value);
}

/** True for a string with a lone surrogate, which no key can hold. */
export function isIllFormed(value: unknown): boolean {
  return typeof value === "string" && !value.isWellFormed();
}

function refusePromise(
  model: CompiledModel,
  index: CompiledIndex,
  field: string,
  value: unknown,
): void {
  if (!isPromise(value)) return;
  ignoreRejection(value);
  throw new IndexKeyError(model.name, index.name, field, "promise");
}

/**
 * Returns the key of an index entry. The key of a unique index consists of the prefix and the
 * parts. That of any other index also contains the primary key.
 */
export function indexKey(
  index: CompiledIndex,
  parts: readonly KvKeyPart[],
  primaryKey: readonly KvKeyPart[],
): KvKey {
  const prefix: KvKeyPart[] = [index.place];
  if (index.text !== undefined) return prefix.concat(parts, freshSection, primaryKey);
  return index.unique ? prefix.concat(parts) : prefix.concat(parts, primaryKey);
}

/**
 * Returns the keys of a row in an index. There are none if a part is absent or if the `where` of
 * the index excludes the row. If a part is an array, there is one key for each distinct element.
 */
export function indexKeys(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): KvKey[] {
  if (!includesRow(model, index, row)) return [];
  const { parts } = index;
  // Arrays of their final size: one that grows reserves memory for 17 elements.
  const values = new Array<unknown>(parts.length);
  let isWhole = true;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    const value = part.compute === undefined ? row[part.field] : computed(model, index, part, row);
    values[i] = value;
    if (value === undefined || value === null) isWhole = false;
  }
  if (!isWhole) return [];
  if (index.each === undefined) return [buildKey(model, index, values, primaryKey)];
  const elements = values[index.each];
  if (!Array.isArray(elements)) {
    const field = index.fields[index.each]!;
    refusePromise(model, index, field, elements);
    throw new IndexKeyError(model.name, index.name, field, typeof elements);
  }
  const keys: KvKey[] = [];
  // The key part of the element identifies the key, because the rest is the same for all elements.
  const seen = elements.length > maxPairwise ? new Set<string>() : undefined;
  for (const element of elements) {
    if (isAbsent(element)) continue;
    const key = buildKey(model, index, values.with(index.each, element), primaryKey);
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

/**
 * True if the key of an entry in an index without `each` begins as that of a row. Compares the
 * row's values with the parts of the key, and does not build the key of the row.
 */
function hasPartsOfRow(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
  key: KeyParts,
): boolean {
  const { parts } = index;
  if (!includesRow(model, index, row)) return false;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    const value = part.compute === undefined ? row[part.field] : computed(model, index, part, row);
    if (value === undefined || value === null) return false;
    if (!isSamePart(indexedPart(model, index, i, value), key.partAt(1 + i))) return false;
  }
  return true;
}

/** True if a row has this key in an index without `each`. */
function isKeyOfRow(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
  key: KvKey,
): boolean {
  const { parts, unique } = index;
  if (key.length !== 1 + parts.length + (unique ? 0 : primaryKey.length)) return false;
  if (!hasPartsOfRow(model, index, row, { partAt: (position) => key[position] })) return false;
  if (unique) return true;
  for (let i = 0; i < primaryKey.length; i++) {
    if (!isSamePart(primaryKey[i], key[1 + parts.length + i])) return false;
  }
  return true;
}

function includesRow(model: CompiledModel, index: CompiledIndex, row: AnyRow): boolean {
  const { where, unmarked } = index;
  if (unmarked !== undefined && !isAbsent(row[unmarked])) return false;
  if (where === undefined) return true;
  const answer: unknown = callFunction(model, index, "where", () =>
    where(readableRow(model, index, row)),
  );
  refusePromise(model, index, "where", answer);
  return Boolean(answer);
}

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Returns the value of a part that a function computes. */
function computed(
  model: CompiledModel,
  index: CompiledIndex,
  { field, compute }: CompiledIndex["parts"][number],
  row: AnyRow,
): unknown {
  return callFunction(model, index, field, () => compute!(readableRow(model, index, row)));
}

function buildKey(
  model: CompiledModel,
  index: CompiledIndex,
  values: readonly unknown[],
  primaryKey: readonly KvKeyPart[],
): KvKey {
  if (index.text !== undefined) {
    const parts = values.map((value, i) => indexedPart(model, index, i, value));
    return indexKey(index, parts, primaryKey);
  }
  const end = index.unique ? 0 : primaryKey.length;
  const key = new Array<KvKeyPart>(1 + values.length + end);
  key[0] = index.place;
  for (let i = 0; i < values.length; i++) key[1 + i] = indexedPart(model, index, i, values[i]);
  for (let i = 0; i < end; i++) key[1 + values.length + i] = primaryKey[i]!;
  return key;
}

function callFunction<T>(
  model: CompiledModel,
  index: CompiledIndex,
  field: string,
  run: () => T,
): T {
  try {
    return run();
  } catch (cause) {
    if (cause instanceof ModelDefinitionError) throw cause;
    throw new IndexKeyError(model.name, index.name, field, "unknown", { cause });
  }
}

export function indexEntries(
  model: CompiledModel,
  indexes: readonly CompiledIndex[],
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
): IndexEntry[] {
  // Most indexes have one entry of a row.
  const entries = new Array<IndexEntry>(indexes.length);
  let count = 0;
  for (const index of indexes) {
    let keys: readonly KvKey[];
    try {
      keys = indexKeys(model, index, row, primaryKey);
    } catch (error) {
      throw withRowId(model, index, error, primaryKey);
    }
    if (keys.length === 0) continue;
    const value = entryValue(index, row, primaryKey);
    for (const key of keys) entries[count++] = { index, key, value };
  }
  entries.length = count;
  return entries;
}

/**
 * True if it is certain, without computing any keys, that a change of a row does not affect its
 * entries in an index: the entries are pointers, and their keys depend only on fields that have not
 * changed.
 */
export function isUntouched(index: CompiledIndex, before: AnyRow, after: AnyRow): boolean {
  const { store, keyFields } = index;
  if (store !== "pointer" || keyFields === undefined) return false;
  for (const field of keyFields) {
    if (!Object.is(before[field], after[field])) return false;
  }
  return true;
}

export function indexChanges(
  before: readonly IndexEntry[],
  after: readonly IndexEntry[],
): IndexChanges {
  if (before.length === 0) return { removed: [], added: after, rewritten: [] };
  if (after.length === 0) return { removed: before, added: [], rewritten: [] };
  const textsBefore = textSetOf(before);
  const textsAfter = textSetOf(after);
  const removed: IndexEntry[] = [];
  const added: IndexEntry[] = [];
  const rewritten: IndexEntry[] = [];
  for (const entry of before) {
    if (!isAmong(entry, after, textsAfter)) removed.push(entry);
  }
  for (const entry of after) {
    if (!isAmong(entry, before, textsBefore)) added.push(entry);
    else if (entry.index.store !== "pointer" || entry.index.text !== undefined)
      rewritten.push(entry);
  }
  return { removed, added, rewritten };
}

/** Returns the texts of entries for lookups, unless there are few enough to compare. */
function textSetOf(entries: readonly IndexEntry[]): ReadonlySet<string> | undefined {
  return entries.length > maxPairwise ? new Set(entries.map(entryText)) : undefined;
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

/** Returns an error of {@link indexKeys} with the id of the row. */
function withRowId(
  model: CompiledModel,
  index: CompiledIndex,
  error: unknown,
  primaryKey: readonly KvKeyPart[],
): unknown {
  if (!(error instanceof IndexKeyError)) return error;
  const { field, valueType, cause, problem } = error;
  const options = { id: pointerOf(primaryKey), cause, problem };
  return new IndexKeyError(model.name, index.name, field, valueType, options);
}

/** True if a row has this key in an index. Only then is a pointer to the row used. */
export function hasIndexKey(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
  primaryKey: readonly KvKeyPart[],
  key: KvKey,
): boolean {
  try {
    if (index.each === undefined) return isKeyOfRow(model, index, row, primaryKey, key);
    return indexKeys(model, index, row, primaryKey).some((rowKey) => isSameKey(rowKey, key));
  } catch (error) {
    // A row that was written by hand has no key in an index that cannot hold its values.
    if (error instanceof IndexKeyError) return false;
    throw error;
  }
}

/**
 * True if a row has the key of an index entry that leads to it. As {@link hasIndexKey}, for the key
 * of an entry of a page, which ends in the primary key of the row or has none.
 */
export function isEntryOfRow(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow,
  entry: KeyParts,
): boolean {
  try {
    return hasPartsOfRow(model, index, row, entry);
  } catch (error) {
    if (error instanceof IndexKeyError) return false;
    throw error;
  }
}
