import type { KvEntry, KvKey, KvKeyPart, KvListSelector } from "@keywright/core";
import type { TableContext } from "../context/table-context.js";
import { primaryKeyOfEntry } from "../indexes/entry-value.js";
import { keyAfter } from "../indexes/key-parts.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";

/** The rows that have the given values in the first fields of an index or of the primary key. */
export interface EntryRange {
  /** Undefined for the primary key. */
  readonly index: CompiledIndex | undefined;
  readonly equals: readonly KvKeyPart[];
}

export interface EntryBatch {
  readonly primaryKeys: readonly (readonly KvKeyPart[])[];
  /** The key that was read last. */
  readonly last: KvKey | undefined;
  /** True if the range has no further entries. */
  readonly isEnd: boolean;
}

const maxBatch = 500;

/**
 * Reads entries of a range in the order of their keys.
 *
 * @param after the key after which to continue; undefined to begin.
 * @param count the maximum number of entries. At most 500 are read, whatever it is.
 */
export async function listEntries(
  context: TableContext,
  range: EntryRange,
  after: KvKey | undefined,
  count: number,
): Promise<EntryBatch> {
  const limit = Math.min(count, maxBatch);
  const selector = selectorOf(context, range, after);
  if (selector === undefined) return { primaryKeys: [], last: after, isEnd: true };
  const listed = context.kv.list(selector, { limit, batchSize: limit });
  const primaryKeys: (readonly KvKeyPart[])[] = [];
  let reads = 0;
  let last: KvKey | undefined;
  for await (const entry of listed) {
    reads++;
    last = entry.key;
    const primaryKey = primaryKeyOf(context.model, range.index, entry);
    if (primaryKey !== undefined) primaryKeys.push(primaryKey);
  }
  return { primaryKeys, last, isEnd: reads < limit };
}

function selectorOf(
  { model }: TableContext,
  { index, equals }: EntryRange,
  after: KvKey | undefined,
): KvListSelector | undefined {
  const prefix = [index?.prefix ?? model.prefix, ...equals];
  // If the prefix is itself a whole key, a selector by prefix would leave that key out.
  const isWhole =
    equals.length === (index === undefined ? model.primaryKey : index.fields).length &&
    (index === undefined || index.unique);
  if (isWhole) {
    return after === undefined ? { start: prefix, end: keyAfter(prefix) } : undefined;
  }
  return after === undefined ? { prefix } : { prefix, start: keyAfter(after) };
}

function primaryKeyOf(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  { key, value }: KvEntry<unknown>,
): readonly KvKeyPart[] | undefined {
  if (index !== undefined) return primaryKeyOfEntry(model, index, value);
  return key.length === 1 + model.primaryKey.length ? key.slice(1) : undefined;
}
