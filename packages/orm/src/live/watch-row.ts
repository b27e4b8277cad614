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

/** Makes of a row what the caller is to have of it; what it reads it counts. */
export type ShapeRow<Shaped> = (found: FoundRow | null, meter: ReadMeter) => Promise<Shaped>;

/**
 * The row that a primary key or unique values name, null where there is none: at once, and again after each change of it.
 * Of unique values it is the row that has them at the time, also where that is another one than before.
 *
 * @param shape makes of each row what the stream gives; rows of other models that `query.include` loads are its matter,
 * and their changes are reported too.
 * @throws {UnindexedQueryError} where `where` names neither a primary key nor unique values.
 * @throws {InvalidQueryError} for what is not one value, and for one that the index cannot hold.
 * @throws {InvalidArgumentError} within a transaction.
 * @throws {LiveQueryUnavailableError} where `query.include` leads to a model whose changes the database does not tell.
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
    return streamOf(context, query, shape, {
      pointers,
      rows: pointers.length > 0 ? [] : [rowKey(model, primaryKeyIn(model, where))],
      find: (meter) => findOne(context, where, meter, query),
    });
  });
}

/** The same of the row that has some values in one unique index, whatever other index has its fields. */
export function watchIndexedRow<Shaped>(
  context: TableContext,
  index: CompiledIndex,
  values: readonly unknown[],
  query: AnyQuery,
  shape: ShapeRow<Shaped>,
): ReadableStream<Shaped> {
  return beginWatch(context, () =>
    streamOf(context, query, shape, {
      pointers: [pointerTo(context.model, index, values)],
      rows: [],
      find: (meter) => findByUniqueIndex(context, index, values, meter, query),
    }),
  );
}

/** What is watched for a row. */
interface WatchedRow {
  /** The entries that can point to it; none where its primary key is known. */
  readonly pointers: readonly Pointer[];
  /** That of the primary key; those that the entries point to are not known yet. */
  readonly rows: readonly KvKey[];
  readonly find: (meter: ReadMeter) => Promise<FoundRow | undefined>;
}

function streamOf<Shaped>(
  context: TableContext,
  query: AnyQuery,
  shape: ShapeRow<Shaped>,
  { pointers, rows: known, find }: WatchedRow,
): ReadableStream<Shaped> {
  const related = relatedWatched(context, query.include);
  // It says whether the entries that point to the row are kept up.
  const catalogs = pointers.length > 0 ? [catalogKey(context.model)] : [];
  const watchedWith = (rows: readonly KvKey[]): Watched => ({
    ...related,
    keys: [...catalogs, ...pointers.map(({ key }) => key), ...rows],
  });
  let rows = known;

  async function read(): Promise<LiveState<Shaped>> {
    const before = rows;
    if (pointers.length > 0) rows = await rowsOf(context, pointers);
    const found = await measuredRead(context, query, async (meter) => {
      // What it said before it was watched may have changed since.
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
    concerns: async () => true,
  });
}

function primaryKeyIn(model: CompiledModel, where: AnyRow): KvKeyPart[] {
  return model.primaryKey.map((field) => uniquePart(model, field, where));
}

/** An entry of a unique index. */
interface Pointer {
  readonly index: CompiledIndex;
  readonly key: KvKey;
}

/** The entries that can point to the row; none where its primary key is known. */
function pointersOf(model: CompiledModel, where: AnyRow): Pointer[] {
  const keys = planUnique(model, where);
  if (keys[0] === "primaryKey") return [];
  return keys.flatMap((index) => {
    if (index === "primaryKey") return [];
    for (const field of index.fields) uniquePart(model, field, where);
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

async function rowsOf({ kv, model }: TableContext, pointers: readonly Pointer[]): Promise<KvKey[]> {
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
