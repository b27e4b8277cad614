import type { KvEntry, KvEntryMaybe, KvKey } from "@keywright/core";
import { primaryKeyOfEntry } from "../indexes/entry-value.js";
import { hasIndexKey } from "../indexes/index-entries.js";
import type { AnyRow } from "../model/compiled-model.js";
import { decodeCursor, encodeCursor } from "./cursor.js";
import { type IndexRead, isOfBoundType, keyLength, selectorOf } from "./index-read.js";
import { readRows } from "./read-rows.js";
import type { TableContext } from "./table-context.js";

/** Rows in the order of an index, and where to go on. */
export interface Page<Row> {
  readonly items: Row[];
  /** Given to the same query again, it goes on behind the last item; null where there are no more. */
  readonly cursor: string | null;
}

export interface PageOptions {
  /** Rows at the most; without it, all of them. */
  readonly take?: number | undefined;
  /** Where an earlier page of the same query ended. */
  readonly cursor?: string | null | undefined;
}

/** The most entries whose rows are read together. */
const maxChunk = 500;

/**
 * Reads a page of rows through an index: its entries, then the rows that they point to, which are returned only where
 * they have the key that led to them. Reads one entry more than it returns, to know whether there is another page.
 *
 * @throws {IndexNotReadyError} where the index is not built.
 * @throws {InvalidCursorError} for a cursor of another query.
 * @throws {RangeError} where `take` is not a positive integer.
 */
export async function readPage(
  context: TableContext,
  read: IndexRead,
  options: PageOptions,
): Promise<Page<AnyRow>> {
  const { kv, model, catalog } = context;
  const take = options.take ?? Number.POSITIVE_INFINITY;
  if (!(take > 0) || (options.take !== undefined && !Number.isInteger(take))) {
    throw new RangeError(`take is a positive integer, not ${options.take}.`);
  }
  if (read.index !== undefined) await catalog.assertReadable(read.index);
  const after = options.cursor ? decodeCursor(model, read, options.cursor) : undefined;
  const selector = selectorOf(model, read, after);
  const items: AnyRow[] = [];
  if (selector === undefined) return { items, cursor: null };
  const batchSize = Math.min(take + 1, maxChunk);
  const entries = kv.list(selector, { reverse: read.reverse, batchSize });
  let last: KvKey = [];
  for (;;) {
    const chunk = await nextEntries(entries, Math.min(take - items.length + 1, maxChunk));
    if (chunk.length === 0) return { items, cursor: null };
    for (const { key, row } of await rowsOf(context, read, chunk)) {
      if (items.length === take) return { items, cursor: encodeCursor(read, last) };
      items.push(row);
      last = key;
    }
  }
}

async function nextEntries(
  entries: AsyncIterator<KvEntry<unknown>>,
  count: number,
): Promise<KvEntry<unknown>[]> {
  const chunk: KvEntry<unknown>[] = [];
  while (chunk.length < count) {
    const next = await entries.next();
    if (next.done === true) break;
    chunk.push(next.value);
  }
  return chunk;
}

/** The rows that entries of an index lead to, without those that no longer have the entry's key. */
async function rowsOf(
  context: TableContext,
  read: IndexRead,
  entries: readonly KvEntry<unknown>[],
): Promise<{ key: KvKey; row: AnyRow }[]> {
  const { model } = context;
  const { index } = read;
  const length = keyLength(model, index);
  const whole = entries.filter(({ key }) => key.length === length && isOfBoundType(read, key));
  if (index === undefined) return whole.map(({ key, value }) => ({ key, row: value as AnyRow }));
  const pointed = whole.flatMap(({ key, value }) => {
    const primaryKey = primaryKeyOfEntry(model, index, value);
    return primaryKey === undefined ? [] : [{ key, primaryKey }];
  });
  const rows: KvEntryMaybe<AnyRow>[] = await readRows(
    context,
    pointed.map(({ primaryKey }) => primaryKey),
  );
  return pointed.flatMap(({ key, primaryKey }, i) => {
    const row = rows[i]?.value;
    if (!row || !hasIndexKey(model, index, row, primaryKey, key)) return [];
    return [{ key, row }];
  });
}
