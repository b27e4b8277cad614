import { type KvKey, type KvRangeChange, specificationOrder } from "@keywright/core";
import { changeMarkOfRead } from "../../derived/changes/change-marks.js";
import { LiveQueryUnavailableError } from "../../errors/query-errors.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { catalogKey } from "../../state/catalog/catalog-entry.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { type ReadView, viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { readRows } from "../../state/rows/read-rows.js";
import { keyIdOf } from "../../state/transaction/buffer/key-id.js";
import { readPage, takeOf } from "../find/find-rows.js";
import { type RowFilter, rowFilterOf } from "../find/rows/row-filter.js";
import { type ChosenPlan, choosePlan } from "../plan/choose-plan.js";
import { plansIn } from "../plan/ranges/query-plan.js";
import { firstExpiry } from "./first-expiry.js";
import { type LiveState, liveStream } from "./live-stream.js";
import { beginWatch, measuredRead } from "./measured-read.js";
import { relatedModels, relatedWatched } from "./related-models.js";
import { stampOf } from "./result-stamp.js";
import { canWatchRanges, type Watched } from "./watched.js";
import { rangeOfPlan, type WatchedRange, watchedRange } from "./watched-range.js";

/** Turns rows into a report of the stream. Its reads are counted by the meter. */
export type ShapeRows<Shaped> = (
  view: ReadView,
  rows: readonly FoundRow[],
  meter: ReadMeter,
) => Promise<Shaped>;

/** If more rows have changed, the query is read again without examining them one by one. */
const maxExaminedRows = 100;

/**
 * Returns a stream of the rows of a query. It begins with the current rows and continues after each
 * change of the rows or of their order.
 *
 * If `openKv` has opened the database, every change by this process is reported, made by the ORM or
 * by hand. On other databases, the model must be `live: true`, and changes that the ORM makes in
 * any process are reported.
 *
 * @param shape turns the rows into a report, and loads the rows that `query.include` names. Changes
 * of these rows are reported too.
 * @throws {LiveQueryUnavailableError} if the database cannot watch ranges and the model, or one
 * that `query.include` reads, is not `live: true`.
 * @throws {InvalidArgumentError} within a transaction, if the filter is not a function, and if
 * `query.include` reads more models than such a database can watch at once.
 * @throws {UnindexedQueryError} and {InvalidQueryError} as `findMany`.
 */
export function watchRows(
  context: TableContext,
  query: AnyQuery,
): ReadableStream<readonly FoundRow[]>;
export function watchRows<Shaped>(
  context: TableContext,
  query: AnyQuery,
  shape: ShapeRows<Shaped>,
): ReadableStream<Shaped>;
export function watchRows(
  context: TableContext,
  query: AnyQuery,
  shape: ShapeRows<unknown> = async (_, rows) => rows,
): ReadableStream<unknown> {
  return beginWatch(context, () => {
    const filter = rowFilterOf(context.model, query.filter);
    const catalog = catalogKey(context.model);
    let range = watchedRange(viewOf(context), query);
    const related = new Set<unknown>(
      [...relatedModels(context, query.include), ...(query.related?.models ?? [])].map(
        ({ place }) => place,
      ),
    );
    const isFiltered = filter !== undefined || query.related !== undefined;
    let rows = new Set<string>();
    let hasLost = false;
    let examinesRows = true;

    async function read(): Promise<LiveState<unknown>> {
      let chosen: ChosenPlan | undefined;
      const { items, shaped, expireAt } = await measuredRead(
        context,
        query,
        async (view, meter) => {
          const take = takeOf(context.model, query);
          chosen = await choosePlan(view, query);
          const readBefore = meter.reads;
          const { items, cursor } = await readPage(view, chosen, query, meter, take);
          hasLost = !isFiltered && hasLostEntries(items.length, cursor, meter.reads - readBefore);
          examinesRows = isFiltered || hasLost;
          const shaped = await shape(view, items, meter);
          return { items, shaped, expireAt: await firstExpiry(view, items) };
        },
      );
      rows = new Set(
        items.map(({ primaryKey }) =>
          keyIdOf(rowKey(context.model, primaryKey), specificationOrder),
        ),
      );
      return {
        report: shaped,
        stamp: stampOf(query, items, shaped),
        hasLostEntries: hasLost,
        expireAt,
        watched: chosen && watchedAfter(chosen),
      };
    }

    /** Returns what to watch from now on if the query uses another index, otherwise undefined. */
    function watchedAfter({ plan }: ChosenPlan): Watched | undefined {
      const indexes = plansIn(plan).map(({ index }) => index);
      const isSame = indexes.every((index, i) => index === range.indexes[i]);
      if (range.isReadable && isSame && indexes.length === range.indexes.length) return undefined;
      range = rangeOfPlan(viewOf(context), plan);
      return watchedOf(context, query, range);
    }

    async function mayAffect({ keys, isComplete }: KvRangeChange): Promise<boolean> {
      const { place } = context.model;
      if (!isComplete) return true;
      const changedRows: KvKey[] = [];
      for (const key of keys) {
        const [first] = key;
        if (related.has(first) || range.hasKey(key) || isSameKey(key, catalog)) return true;
        if (first !== place) continue;
        if (rows.has(keyIdOf(key, specificationOrder))) return true;
        if (examinesRows) changedRows.push(key);
      }
      return (
        changedRows.length > maxExaminedRows ||
        (await hasRowWithin(context, filter, range, changedRows))
      );
    }

    const source = { watched: watchedOf(context, query, range), read, mayAffect };
    return liveStream(context.kv, source, query.signal);
  });
}

/**
 * True if a read found entries that led to no row of its result. If there are none and the query
 * has no filter, a row can enter the result only when an entry is added to the range. The watched
 * range reports this, so changes of rows outside the result can be ignored. If there are such
 * entries, a row may enter the result when only the row changes. Programs leave such entries if
 * they write an entry and its row in separate commits.
 *
 * @param reads the number of entries and rows that were read: one or two for each row of the
 * result, and one more if the page has a cursor.
 */
function hasLostEntries(rows: number, cursor: string | null, reads: number): boolean {
  return reads > rows * 2 + (cursor === null ? 0 : 1);
}

/** Returns what to watch for a query that reads a range, and for its related models. */
function watchedOf(context: TableContext, query: AnyQuery, range: WatchedRange): Watched {
  const { kv, model, limits } = context;
  const related = relatedWatched(context, query);
  // The catalog determines which index the query uses. If the index is no longer maintained, its
  // entries do not change.
  const keys = [catalogKey(model)];
  if (canWatchRanges(kv)) {
    const ranges = [...range.selectors, { prefix: [model.place] }, ...related.ranges];
    return { keys, ranges, marks: [] };
  }
  if (!model.live) throw new LiveQueryUnavailableError(model.name);
  // The maximum number of keys per watch is the same as per read.
  const maxMarks = limits.keys - keys.length - related.marks.length;
  const fits = range.marks.length > 0 && range.marks.length <= maxMarks;
  const marks = fits ? range.marks : [changeMarkOfRead(model, undefined, [])];
  return { keys, ranges: [], marks: [...marks, ...related.marks] };
}

/** True if one of these rows is now in the range of the query and passes its filter. */
async function hasRowWithin(
  context: TableContext,
  filter: RowFilter | undefined,
  range: WatchedRange,
  keys: readonly KvKey[],
): Promise<boolean> {
  const { model } = context;
  const primaryKeys = keys
    .filter((key) => key.length === 1 + model.primaryKey.length)
    .map((key) => key.slice(1));
  const entries = await readRows(viewOf(context), primaryKeys);
  return entries.some(({ value: row }, i) => {
    if (typeof row !== "object" || row === null) return false;
    try {
      return range.hasRow(row, primaryKeys[i] ?? []) && (filter?.(row) ?? true);
    } catch {
      // The index or the filter rejects the row. The query is read again, and reports the error.
      return true;
    }
  });
}
