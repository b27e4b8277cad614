import type { KvEntry, KvKey, KvKeyPart, KvListSelector } from "@keywright/core";
import type { TableContext } from "../context/table-context.js";
import { primaryKeyOfEntry } from "../indexes/entry-value.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";

/** The rows that have some values in the first fields of an index, or of the primary key where it is undefined. */
export interface EntryRange {
  readonly index: CompiledIndex | undefined;
  readonly equals: readonly KvKeyPart[];
}

/** Entries of a range, and whether it ends with them. */
export interface EntryBatch {
  /** The primary keys of the rows that they stand for. */
  readonly primaryKeys: readonly (readonly KvKeyPart[])[];
  /** The key that was read last. */
  readonly last: KvKey | undefined;
  readonly isEnd: boolean;
}

const maxBatch = 500;
const lowestPart: KvKeyPart = new Uint8Array();

/**
 * Reads entries of a range in the order of their keys.
 *
 * @param after the key behind which to go on; undefined to begin.
 * @param count of entries at the most; at the most 500 are read.
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
  // A key may be the prefix itself, which a selector by prefix leaves out.
  const isWhole =
    equals.length === (index === undefined ? model.primaryKey : index.fields).length &&
    (index === undefined || index.unique);
  if (isWhole) {
    return after === undefined ? { start: prefix, end: [...prefix, lowestPart] } : undefined;
  }
  return after === undefined ? { prefix } : { prefix, start: [...after, lowestPart] };
}

function primaryKeyOf(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  { key, value }: KvEntry<unknown>,
): readonly KvKeyPart[] | undefined {
  if (index !== undefined) return primaryKeyOfEntry(model, index, value);
  return key.length === 1 + model.primaryKey.length ? key.slice(1) : undefined;
}
