import type { KvKey } from "@keywright/core";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { catalogKey } from "../../state/catalog/catalog-entry.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { type ReadView, viewOf } from "../../state/context/read-view.js";
import { scopedUnique } from "../../state/context/scope.js";
import type { TableContext } from "../../state/context/table-context.js";
import { findOne } from "../find/find-unique.js";
import { queriedKey } from "../plan/fields/queried-value.js";
import { planUnique, primaryKeyIn, uniqueValues } from "../plan/plan-unique.js";
import { firstExpiry } from "./first-expiry.js";
import { type LiveState, liveStream } from "./live-stream.js";
import { beginWatch, measuredRead } from "./measured-read.js";
import { relatedWatched } from "./related-models.js";
import { stampOf } from "./result-stamp.js";

/** Turns a row into a report of the stream. Its reads are counted by the meter. */
export type ShapeRow<Shaped> = (
  view: ReadView,
  found: FoundRow | null,
  meter: ReadMeter,
) => Promise<Shaped>;

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
  return beginWatch(context, () => streamRow(context, where, query, shape));
}

function streamRow<Shaped>(
  context: TableContext,
  unscoped: AnyRow,
  query: AnyQuery,
  shape: ShapeRow<Shaped>,
): ReadableStream<Shaped> {
  const { model } = context;
  const where = scopedUnique(context, unscoped);
  let pointers = pointersOf(viewOf(context), where, query.index);
  const related = relatedWatched(context, query);
  // Empty until the pointer is read, if the primary key is not known.
  let rows = pointers.length > 0 ? [] : [keyOfRow()];
  let keys = watchedKeys(viewOf(context));

  function keyOfRow(): KvKey {
    return rowKey(model, primaryKeyIn(model, where));
  }

  /**
   * Of the pointers, only the one that a query reads is watched, and the catalog decides which. It
   * also shows if the primary key has changed.
   */
  function watchedKeys(view: ReadView): readonly KvKey[] {
    const pointer = currentPointer(view, pointers);
    return [catalogKey(model), ...(pointer ? [pointer.key] : []), ...rows];
  }

  async function read(): Promise<LiveState<Shaped>> {
    const before = keys;
    const found = await measuredRead(context, query, async (view, meter) => {
      pointers = pointersOf(view, where, query.index);
      const pointer = currentPointer(view, pointers);
      rows = pointer === undefined ? [keyOfRow()] : await readRowKeys(view, pointer);
      const row = (await findOne(view, where, meter, query)) ?? null;
      const all = row === null ? [] : [row];
      const shaped = await shape(view, row, meter);
      keys = watchedKeys(view);
      return { all, shaped, expireAt: await firstExpiry(view, all) };
    });
    return {
      report: found.shaped,
      stamp: stampOf(query, found.all, found.shaped),
      expireAt: found.expireAt,
      watched: isSameKeys(before, keys) ? undefined : { ...related, keys },
    };
  }

  const source = { watched: { ...related, keys }, read, mayAffect: async () => true };
  return liveStream(context.kv, source, query.signal);
}

/** The key of an entry in a unique index. */
interface Pointer {
  readonly index: CompiledIndex;
  readonly key: KvKey;
}

/** Returns the index entries that can point to the row. Empty if `where` names its primary key. */
function pointersOf(view: ReadView, where: AnyRow, indexName: string | undefined): Pointer[] {
  const { model } = view;
  const keys = planUnique(view.queriedModel, where, indexName);
  if (keys[0] === "primaryKey") return [];
  return keys
    .filter((index) => index !== "primaryKey")
    .map((index) => ({ index, key: queriedKey(model, index, uniqueValues(model, index, where)) }));
}

async function readRowKeys({ kv, model }: ReadView, { index, key }: Pointer): Promise<KvKey[]> {
  const primaryKey = primaryKeyOfEntry(model, index, (await kv.get(key)).value);
  return primaryKey === undefined ? [] : [rowKey(model, primaryKey)];
}

/** Returns the pointer that a query reads, by the catalog. Undefined if there are none. */
function currentPointer(view: ReadView, pointers: readonly Pointer[]): Pointer | undefined {
  return pointers.find(({ index }) => view.canRead(index)) ?? pointers[0];
}

function isSameKeys(a: readonly KvKey[], b: readonly KvKey[]): boolean {
  return a.length === b.length && a.every((key, i) => isSameKey(key, b[i] ?? []));
}
