import { type KvKey, type KvRangeChange, specificationOrder } from "@keywright/core";
import { changeMarkOfRead } from "../../derived/changes/change-marks.js";
import {
  groupPrefix,
  sectionPrefix,
  stateKey,
  type TextGroup,
} from "../../derived/text/text-keys.js";
import { LiveQueryUnavailableError } from "../../errors/query-errors.js";
import { isSameKey, keyAfter } from "../../model/keys/key-parts.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { catalogKey } from "../../state/catalog/catalog-entry.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { type ReadView, viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { readRows } from "../../state/rows/read-rows.js";
import { keyIdOf } from "../../state/transaction/buffer/key-id.js";
import type { ParsedQuery } from "../../text/parsed-query.js";
import { type RowFilter, rowFilterOf } from "../find/rows/row-filter.js";
import { matchedRow } from "../search/matched-row.js";
import type { AnySearchQuery } from "../search/parsed-search.js";
import { isInGroup, type SearchedRows, searchRows } from "../search/search-rows.js";
import { queriedGroup } from "../search/searched-group.js";
import { firstExpiry } from "./first-expiry.js";
import { type LiveState, liveStream } from "./live-stream.js";
import { beginWatch, measuredRead } from "./measured-read.js";
import { relatedModels, relatedWatched } from "./related-models.js";
import { stampOf } from "./result-stamp.js";
import { SearchedWords } from "./searched-words.js";
import { canWatchRanges, type Watched } from "./watched.js";

/** Turns a page into a report of the stream. Its reads are counted by the meter. */
export type ShapePage<Shaped> = (
  view: ReadView,
  page: SearchedRows,
  meter: ReadMeter,
) => Promise<Shaped>;

/** If more rows have changed, the search is made again without examining them one by one. */
const maxExaminedRows = 100;

/**
 * Returns a stream of a page of a search. It begins with the current page, and continues after each
 * change of the rows of the page, of their order, and of how many rows match. A change of scores
 * alone is not reported.
 *
 * @param shape turns a page into a report, and loads the rows that `query.include` names. Changes
 * of these rows are reported too.
 * @throws {LiveQueryUnavailableError} if the database cannot watch ranges and the model, or one
 * that `query.include` reads, is not `live: true`.
 * @throws {InvalidArgumentError} within a transaction, and if `query.include` reads more models
 * than such a database can watch at once.
 * @throws the errors of `searchRows`, some of them only in the stream.
 */
export function watchSearch<Shaped>(
  context: TableContext,
  query: AnySearchQuery,
  shape: ShapePage<Shaped>,
): ReadableStream<Shaped> {
  return beginWatch(context, () => {
    const { kv, model } = context;
    const filter = rowFilterOf(model, query.filter);
    const catalog = catalogKey(model);
    const models = relatedModels(context, query.include);
    const related = new Set<unknown>([...models].map(({ place }) => place));
    const view = viewOf(context);
    let group = queriedGroup(view, query);
    let isReadable = view.canRead(group.index);
    let parsed: ParsedQuery | undefined;
    let words: SearchedWords | undefined;
    let rows = new Set<string>();

    async function read(): Promise<LiveState<Shaped>> {
      const { page, report, expireAt } = await measuredRead(context, query, async (view, meter) => {
        const page = await searchRows(view, query, meter);
        const report = await shape(view, page, meter);
        const found = page.items.map((item) => item.found);
        const ofRows = await firstExpiry(view, found);
        return { page, report, expireAt: Math.min(page.state.expireAt, ofRows) };
      });
      const { items, cursor, state } = page;
      const before = groupPrefix(group);
      const isSame = isReadable && isSameKey(groupPrefix(state.group), before);
      ({ group, parsed } = state);
      isReadable = true;
      rows = new Set(
        items.map(({ found }) => keyIdOf(rowKey(model, found.primaryKey), specificationOrder)),
      );
      const lowest = cursor === null ? 0 : items.at(-1)!.score;
      // Other databases do not report which keys have changed.
      words = canWatchRanges(kv) ? await SearchedWords.of(state, lowest) : undefined;
      return {
        report,
        stamp: stampOfPage(query, page, report),
        expireAt,
        watched: isSame ? undefined : watchedOf(context, query, group, isReadable),
      };
    }

    async function mayAffect({ keys, isComplete }: KvRangeChange): Promise<boolean> {
      if (!isComplete || parsed === undefined) return true;
      const state = stateKey(group);
      const ofWords: KvKey[] = [];
      const others: KvKey[] = [];
      for (const key of keys) {
        const [first] = key;
        if (related.has(first) || isSameKey(key, catalog) || isSameKey(key, state)) return true;
        if (first === group.index.place) ofWords.push(key);
        else if (rows.has(keyIdOf(key, specificationOrder))) return true;
        else if (filter !== undefined) others.push(key);
      }
      if (others.length > maxExaminedRows) return true;
      const view = viewOf(context);
      if (filter !== undefined && (await hasMatch(view, group, parsed, filter, others)))
        return true;
      return ofWords.length > 0 && (words === undefined || (await words.mayDiffer(view, ofWords)));
    }

    const source = { watched: watchedOf(context, query, group, isReadable), read, mayAffect };
    return liveStream(kv, source, query.signal);
  });
}

/**
 * Returns what to watch: the rows, and the words of the group. A list of segments shows that words
 * have moved to another place.
 */
function watchedOf(
  context: TableContext,
  query: AnySearchQuery,
  group: TextGroup,
  isReadable: boolean,
): Watched {
  const { kv, model } = context;
  const related = relatedWatched(context, query);
  const keys = [catalogKey(model)];
  if (canWatchRanges(kv)) {
    const state = stateKey(group);
    const words = (["fresh", "gone"] as const).map((section) => ({
      prefix: sectionPrefix(group, section),
    }));
    const ranges = [
      { start: state, end: keyAfter(state) },
      ...words,
      { prefix: [model.place] },
      ...related.ranges,
    ];
    return { keys, ranges, marks: [] };
  }
  if (!model.live) throw new LiveQueryUnavailableError(model.name);
  // An index that is not readable may not be maintained either, and then its marks do not change.
  const mark = changeMarkOfRead(model, isReadable ? group.index : undefined, group.values);
  return { keys, ranges: [], marks: [mark, ...related.marks] };
}

/** A text that differs for different pages. Scores and the position in the cursor do not count. */
function stampOfPage(
  query: AnySearchQuery,
  { items, count, cursor, state }: SearchedRows,
  shaped: unknown,
): string {
  const found = items.map((item) => item.found);
  const parts = [state.group.index.place, count, cursor === null];
  return `${JSON.stringify(parts)} ${stampOf(query, found, withoutScores(shaped))}`;
}

/** Middleware may have replaced the page by anything. */
function withoutScores(shaped: unknown): unknown {
  const { items } = (shaped ?? {}) as { readonly items?: unknown };
  return Array.isArray(items) ? items.map(({ score: _, ...item }) => item) : shaped;
}

/** True if one of these rows matches now and passes the filter. */
async function hasMatch(
  view: ReadView,
  group: TextGroup,
  parsed: ParsedQuery,
  filter: RowFilter,
  keys: readonly KvKey[],
): Promise<boolean> {
  const { model } = view;
  const primaryKeys = keys
    .filter((key) => key.length === 1 + model.primaryKey.length)
    .map((key) => key.slice(1));
  if (primaryKeys.length === 0) return false;
  const entries = await readRows(view, primaryKeys);
  return entries.some(({ value: row }, i) => {
    if (typeof row !== "object" || row === null) return false;
    try {
      const isMatch =
        isInGroup(view, group, row, primaryKeys[i]!) &&
        matchedRow(group.index.text!, parsed, row) !== undefined;
      return isMatch && filter(row);
    } catch {
      // The search is made again, and reports the error.
      return true;
    }
  });
}
