import { type KvKey, type KvRangeChange, specificationOrder } from "@keywright/core";
import { catalogKey } from "../catalog/catalog-entry.js";
import type { AnyQuery, FoundRow } from "../context/any-query.js";
import type { ReadMeter } from "../context/read-meter.js";
import type { TableContext } from "../context/table-context.js";
import { LiveQueryUnavailableError } from "../errors/query-errors.js";
import { changeMarkOfRead } from "../indexes/change-marks.js";
import { isSameKey } from "../indexes/key-parts.js";
import { rowKey } from "../indexes/primary-key.js";
import { type ChosenPlan, choosePlan } from "../query/plan/choose-plan.js";
import { readPage, takeOf } from "../query/read/read-page.js";
import { readRows } from "../query/read/read-rows.js";
import { type RowFilter, rowFilterOf } from "../query/read/row-filter.js";
import { keyIdOf } from "../transaction/key-id.js";
import { firstExpiry } from "./first-expiry.js";
import { type LiveState, liveStream } from "./live-stream.js";
import { beginWatch, measuredRead } from "./measured-read.js";
import { relatedModels, relatedWatched } from "./related-models.js";
import { stampOf } from "./result-stamp.js";
import { tellsOfRanges, type Watched } from "./watched.js";
import { rangeOfPlan, type WatchedRange, watchedRange } from "./watched-range.js";

/** Makes of rows what the caller is to have of them; what it reads it counts. */
export type ShapeRows<Shaped> = (rows: readonly FoundRow[], meter: ReadMeter) => Promise<Shaped>;

/** Where more rows have changed, the query itself is read again, without a look at each of them. */
const maxRowsLookedAt = 100;

/**
 * The rows of a query: at once, and again after each change that makes them others, or puts them in another order.
 *
 * A database that `openKv` opened tells of every change by this process, made by the ORM or by hand. On others the model
 * needs `live: true`, and changes by the ORM are told, whichever process made them.
 *
 * @param shape makes of the rows what the stream gives; rows of other models that `query.include` loads are its matter,
 * and their changes are reported too.
 * @throws {LiveQueryUnavailableError} where the database does not tell of ranges, and a model of the query, or of its
 * `include`, is not `live: true`.
 * @throws {InvalidArgumentError} within a transaction, for a filter that is no function, and for more models than such a database can watch at once.
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
  shape: ShapeRows<unknown> = async (rows) => rows,
): ReadableStream<unknown> {
  return beginWatch(context, () => {
    const filter = rowFilterOf(context.model, query.filter);
    const catalog = catalogKey(context.model);
    let range = watchedRange(context, query);
    const related = new Set<unknown>(
      Array.from(relatedModels(context, query.include), ({ prefix }) => prefix),
    );
    let rows = new Set<string>();
    let looksAtRows = true;

    async function read(): Promise<LiveState<unknown>> {
      let chosen: ChosenPlan | undefined;
      const { items, shaped, expireAt } = await measuredRead(context, query, async (meter) => {
        takeOf(query);
        // What it said before it was watched may have changed since.
        await context.catalog.reload();
        chosen = await choosePlan(context, query);
        const readBefore = meter.reads;
        const { items, cursor } = await readPage(context, chosen, query, meter);
        looksAtRows =
          filter !== undefined || hasLostEntries(items.length, cursor, meter.reads - readBefore);
        const shaped = await shape(items, meter);
        return { items, shaped, expireAt: await firstExpiry(context, items, meter) };
      });
      rows = new Set(
        items.map(({ primaryKey }) =>
          keyIdOf(rowKey(context.model, primaryKey), specificationOrder),
        ),
      );
      return {
        report: shaped,
        stamp: stampOf(query, items, shaped),
        expireAt,
        watched: chosen && follow(chosen),
      };
    }

    /** What to watch from now on, where a query is read by another index than before. */
    function follow({ plan }: ChosenPlan): Watched | undefined {
      if (range.isReadable && plan.index === range.index) return undefined;
      range = rangeOfPlan(context, plan);
      return watchedOf(context, query, range);
    }

    async function concerns({ keys, isComplete }: KvRangeChange): Promise<boolean> {
      const { prefix } = context.model;
      if (!isComplete) return true;
      const changedRows: KvKey[] = [];
      for (const key of keys) {
        const [first] = key;
        if (related.has(first) || range.hasKey(key) || isSameKey(key, catalog)) return true;
        if (first !== prefix) continue;
        if (rows.has(keyIdOf(key, specificationOrder))) return true;
        if (looksAtRows) changedRows.push(key);
      }
      return (
        changedRows.length > maxRowsLookedAt ||
        (await hasRowWithin(context, filter, range, changedRows))
      );
    }

    return liveStream(context.kv, { watched: watchedOf(context, query, range), read, concerns });
  });
}

/**
 * Whether a read has met entries that led to no row of its result. Without them and without a filter, a row can come into
 * the result only by an entry that is put into the range, and that is a change of the range: what else happens to rows
 * beside the result is no concern of it. With them, as a program leaves them that writes an entry and its row one after the
 * other, the change of a row may be enough.
 *
 * @param reads entries and rows: two for each row of the result, or one, and the entry behind a page that has a cursor.
 */
function hasLostEntries(rows: number, cursor: string | null, reads: number): boolean {
  return reads > rows * 2 + (cursor === null ? 0 : 1);
}

/**
 * @throws {LiveQueryUnavailableError} where the database tells of no ranges, and the model keeps no marks.
 * @throws {InvalidArgumentError} for more related models than it can watch at once.
 */
function watchedOf(context: TableContext, query: AnyQuery, range: WatchedRange): Watched {
  const { kv, model, limits } = context;
  const related = relatedWatched(context, query.include);
  // It says by which index the query is read: nobody tells of entries that are not kept up any more.
  const keys = [catalogKey(model)];
  if (tellsOfRanges(kv)) {
    const ranges = [...range.selectors, { prefix: [model.prefix] }, ...related.ranges];
    return { keys, ranges, marks: [] };
  }
  if (!model.live) throw new LiveQueryUnavailableError(model.name);
  // Databases watch as many keys at once as they read.
  const most = limits.keys - keys.length - related.marks.length;
  const isFew = range.marks.length > 0 && range.marks.length <= most;
  const marks = isFew ? range.marks : [changeMarkOfRead(model, undefined, [])];
  return { keys, ranges: [], marks: [...marks, ...related.marks] };
}

/**
 * Whether one of the rows under some keys, none of which is in the result, may be in it now: it is within the range of the
 * query, and its filter lets it through.
 */
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
  const entries = await readRows(context, primaryKeys);
  return entries.some(({ value: row }, i) => {
    if (typeof row !== "object" || row === null) return false;
    try {
      return range.hasRow(row, primaryKeys[i] ?? []) && (filter?.(row) ?? true);
    } catch {
      // What the index or the filter cannot take the query has to say.
      return true;
    }
  });
}
