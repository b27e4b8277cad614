import type { CompiledModel } from "../../model/compiled-model.js";
import { keyText } from "../../model/keys/key-text.js";
import { assertArgument, positiveInteger } from "../../model/shape.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { Page, PageOptions } from "../../state/context/page.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { type ChosenPlan, choosePlan } from "../plan/choose-plan.js";
import { encodeCursor } from "../plan/ranges/cursor.js";
import { maxBatch } from "./entries/entry-reader.js";
import { MergedReader } from "./entries/merged-reader.js";
import { FoundByRelation, RelatedReader } from "./rows/related-reader.js";
import { type ReadRow, RowReader, type RowSource } from "./rows/row-reader.js";

/** @throws {InvalidArgumentError} if `take` is not a positive integer. */
export function takeOf({ name }: CompiledModel, { take }: PageOptions): number {
  if (take === undefined) return Number.POSITIVE_INFINITY;
  if (!Number.isSafeInteger(take) || take < 1) assertArgument(name, "take", take, positiveInteger);
  return take;
}

/**
 * Returns a page of a query's rows, in the order of the index that serves the query.
 *
 * @param choose returns the plan of the query.
 * @throws {UnindexedQueryError}, {InvalidQueryError}, {UnknownIndexError} if no index serves the
 * query.
 * @throws {IndexNotReadyError} if the index is not built.
 * @throws {InvalidCursorError} if the cursor belongs to another query.
 * @throws {ReadLimitError} if it reads more than `maxReads`.
 * @throws {InvalidArgumentError} if `take` is not a positive integer.
 */
export async function findPage(
  view: ReadView,
  query: AnyQuery,
  meter: ReadMeter,
  choose: typeof choosePlan = choosePlan,
): Promise<Page<FoundRow>> {
  const take = takeOf(view.model, query);
  return await readPage(view, await choose(view, query), query, meter, take);
}

export async function findFirstRow(
  view: ReadView,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  const chosen = await choosePlan(view, query);
  return (await rowSourceOf(view, chosen, query, meter, false).next(1))[0];
}

/**
 * Reads a page of rows through an index. It reads one entry more than the page has, if `maxReads`
 * allows it, to find out if there is another page. If it cannot find out, because the query has a
 * filter or `maxReads` is used up, it returns a cursor, and the next page may be empty.
 */
export async function readPage(
  view: ReadView,
  chosen: ChosenPlan,
  query: AnyQuery,
  meter: ReadMeter,
  take: number,
): Promise<Page<FoundRow>> {
  const hasEnd = take !== Number.POSITIVE_INFINITY;
  const reader = rowSourceOf(view, chosen, query, meter, hasEnd);
  // If an index changes between two reads of it, a row that moves within it is read at both places.
  // Only the later place, with the newer row, is retained.
  const hasIndex = "merged" in chosen.plan || chosen.plan.index !== undefined;
  const byKey = hasIndex && !view.isOneState ? new Map<string, ReadRow>() : undefined;
  let items: ReadRow[] = [];
  let size = 0;
  let isEnd = false;
  let isCutOff = false;
  while (size < take && !isEnd && !isCutOff) {
    const missing = take - size;
    const next = reader.next(Math.min(missing, maxBatch));
    const rows = next instanceof Promise ? await next : next;
    isEnd = rows.length === 0;
    isCutOff = rows.length > missing;
    const added = isCutOff ? rows.slice(0, missing) : rows;
    if (byKey === undefined) items = items.concat(added);
    else setLatest(byKey, added);
    size = byKey?.size ?? items.length;
  }
  if (byKey !== undefined) items = [...byKey.values()];
  const last = items.at(-1);
  if (isEnd || last === undefined || !(isCutOff || (await reader.hasMore())))
    return { items, cursor: null };
  return { items, cursor: encodeCursor(chosen.plan, last.entryKey) };
}

/** Adds rows. A row that is there already moves to the later place. */
function setLatest(byKey: Map<string, ReadRow>, rows: readonly ReadRow[]): void {
  for (const row of rows) {
    const key = keyText(row.primaryKey);
    byKey.delete(key);
    byKey.set(key, row);
  }
}

/** Small, so that a loop that needs few rows does not wait for many. */
const firstBatch = 32;

/**
 * Yields the rows of {@link findPage}. Holds at most 500 of them in memory. The consumer may stop
 * at any time. Throws the same errors.
 */
export async function* streamRows(
  view: ReadView,
  query: AnyQuery,
  meter: ReadMeter,
  choose: typeof choosePlan = choosePlan,
): AsyncGenerator<FoundRow> {
  let missing = takeOf(view.model, query);
  const reader = rowSourceOf(view, await choose(view, query), query, meter, false);
  for (let batch = firstBatch; missing > 0; batch = Math.min(batch * 2, maxBatch)) {
    const rows = await reader.next(Math.min(missing, batch));
    if (rows.length === 0) return;
    for (const row of rows) {
      yield row;
      if (--missing === 0) return;
    }
  }
}

/** Returns a reader of the rows of a plan, after the key of a cursor if there is one. */
export function rowSourceOf(
  view: ReadView,
  { plan, after }: ChosenPlan,
  query: AnyQuery,
  meter: ReadMeter,
  looksAhead: boolean,
): RowSource {
  const { related } = query;
  const opened =
    related === undefined || plan.related === undefined
      ? undefined
      : { plan: plan.related, filters: related.open(view, meter) };
  if (opened?.plan.isFinding) {
    const keys = opened.filters.keysAfter(after?.slice(1), plan.reverse);
    const found = new FoundByRelation(view, keys, query, meter);
    return new RelatedReader(view, plan, found, opened.filters, query, meter);
  }
  const rows =
    "merged" in plan
      ? new MergedReader(view, plan, after?.slice(1), query, meter)
      : new RowReader(view, { plan, after }, query, meter, looksAhead && opened === undefined);
  return opened === undefined
    ? rows
    : new RelatedReader(view, plan, rows, opened.filters, query, meter);
}
