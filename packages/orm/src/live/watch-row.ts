import type { KvKey, KvKeyPart } from "@keywright/core";
import { catalogKey } from "../catalog/catalog-entry.js";
import type { AnyQuery, FoundRow } from "../context/any-query.js";
import type { ReadMeter } from "../context/read-meter.js";
import type { TableContext } from "../context/table-context.js";
import { primaryKeyOfEntry } from "../indexes/entry-value.js";
import { indexKey } from "../indexes/index-entries.js";
import { isSameKey } from "../indexes/key-parts.js";
import { rowKey } from "../indexes/primary-key.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { planUnique, uniquePart } from "../query/plan/plan-unique.js";
import { queriedPart } from "../query/plan/queried-part.js";
import { findOne } from "../query/read/find-rows.js";
import { findByUniqueIndex } from "../query/read/find-unique.js";
import { firstExpiry } from "./first-expiry.js";
import { type LiveState, liveStream } from "./live-stream.js";
import { beginWatch, measuredRead } from "./measured-read.js";
import { relatedWatched } from "./related-models.js";
import { stampOf } from "./result-stamp.js";
import type { Watched } from "./watched.js";

/** Turns a row into a report of the stream. Its reads are counted by the meter. */
export type ShapeRow<Shaped> = (found: FoundRow | null, meter: ReadMeter) => Promise<Shaped>;

/**
 * Returns a stream of the row that has a primary key or unique values, or null while there is none.
 * It begins with the current row and continues with each change. For unique values, it is always
 * the row that has them at the time, even if they move from one row to another.
 *
 * @param shape turns a row into a report, and loads the rows that `query.include` names. Changes of
 * these rows are reported too.
 * @throws {UnindexedQueryError} if `where` names neither a primary key nor unique values.
 * @throws {InvalidQueryError} if a condition is not a single value, or one that a key cannot hold.
 * @throws {InvalidArgumentError} within a transaction, and if `query.include` reads more models
 * than the database can watch at once.
 * @throws {LiveQueryUnavailableError} if the database cannot watch ranges and `query.include` reads
 * a model that is not `live: true`.
 */
export function watchRow<Shaped>(
  context: TableContext,
  where: AnyRow,
  query: AnyQuery,
  shape: ShapeRow<Shaped>,
): ReadableStream<Shaped> {
  return beginWatch(context, () => {
    const { model } = context;
    const pointers = pointersOf(model, where);
    return streamRow(context, query, shape, {
      pointers,
      rows: pointers.length > 0 ? [] : [rowKey(model, primaryKeyIn(model, where))],
      find: (meter) => findOne(context, where, meter, query),
    });
  });
}

/**
 * Like {@link watchRow}, for the row that has some values in one unique index. Other indexes with
 * the same fields are not used.
 */
export function watchIndexedRow<Shaped>(
  context: TableContext,
  index: CompiledIndex,
  values: readonly unknown[],
  query: AnyQuery,
  shape: ShapeRow<Shaped>,
): ReadableStream<Shaped> {
  return beginWatch(context, () =>
    streamRow(context, query, shape, {
      pointers: [pointerTo(context.model, index, values)],
      rows: [],
      find: (meter) => findByUniqueIndex(context, index, values, meter, query),
    }),
  );
}

/** The keys to watch for a row, and how it is found. */
interface WatchedRow {
  /** The index entries that can point to the row. Empty if its primary key is known. */
  readonly pointers: readonly Pointer[];
  /** The key of the row if its primary key is known. Otherwise empty until `pointers` are read. */
  readonly rows: readonly KvKey[];
  readonly find: (meter: ReadMeter) => Promise<FoundRow | undefined>;
}

function streamRow<Shaped>(
  context: TableContext,
  query: AnyQuery,
  shape: ShapeRow<Shaped>,
  { pointers, rows: known, find }: WatchedRow,
): ReadableStream<Shaped> {
  const related = relatedWatched(context, query.include);
  // The catalog determines whether the entries that point to the row are maintained.
  const catalogs = pointers.length > 0 ? [catalogKey(context.model)] : [];
  const watchedWith = (rows: readonly KvKey[]): Watched => ({
    ...related,
    keys: [...catalogs, ...pointers.map(({ key }) => key), ...rows],
  });
  let rows = known;

  async function read(): Promise<LiveState<Shaped>> {
    const before = rows;
    if (pointers.length > 0) rows = await readRowKeys(context, pointers);
    const found = await measuredRead(context, query, async (meter) => {
      // The catalog may have changed between its last read and the beginning of the watch.
      if (catalogs.length > 0) await context.catalog.reload();
      const row = (await find(meter)) ?? null;
      const all = row === null ? [] : [row];
      const shaped = await shape(row, meter);
      return { all, shaped, expireAt: await firstExpiry(context, all, meter) };
    });
    return {
      report: found.shaped,
      stamp: stampOf(query, found.all, found.shaped),
      expireAt: found.expireAt,
      watched: isSameRows(before, rows) ? undefined : watchedWith(rows),
    };
  }

  return liveStream(context.kv, {
    watched: watchedWith(rows),
    read,
    mayAffect: async () => true,
  });
}

function primaryKeyIn(model: CompiledModel, where: AnyRow): KvKeyPart[] {
  return model.primaryKey.map((field) => uniquePart(model, field, where[field]));
}

/** The key of an entry in a unique index. */
interface Pointer {
  readonly index: CompiledIndex;
  readonly key: KvKey;
}

/** Returns the index entries that can point to the row. Empty if `where` names its primary key. */
function pointersOf(model: CompiledModel, where: AnyRow): Pointer[] {
  const keys = planUnique(model, where);
  if (keys[0] === "primaryKey") return [];
  return keys.flatMap((index) => {
    if (index === "primaryKey") return [];
    for (const field of index.fields) uniquePart(model, field, where[field]);
    const values = index.fields.map((field) => where[field]);
    return pointerTo(model, index, values);
  });
}

function pointerTo(
  model: CompiledModel,
  index: CompiledIndex,
  values: readonly unknown[],
): Pointer {
  const parts = index.parts.map((_, i) => queriedPart(model, index, i, values[i]));
  return { index, key: indexKey(index, parts, []) };
}

async function readRowKeys(
  { kv, model }: TableContext,
  pointers: readonly Pointer[],
): Promise<KvKey[]> {
  const rows: KvKey[] = [];
  for (const { index, key } of pointers) {
    const primaryKey = primaryKeyOfEntry(model, index, (await kv.get(key)).value);
    if (primaryKey !== undefined) rows.push(rowKey(model, primaryKey));
  }
  return rows;
}

function isSameRows(a: readonly KvKey[], b: readonly KvKey[]): boolean {
  return a.length === b.length && a.every((key, i) => isSameKey(key, b[i] ?? []));
}
