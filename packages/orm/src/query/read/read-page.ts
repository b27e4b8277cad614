import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { ChosenPlan } from "../plan/choose-plan.js";
import { encodeCursor } from "../plan/cursor.js";
import { maxBatch } from "./entry-reader.js";
import { type ReadRow, RowReader } from "./row-reader.js";

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

/**
 * How many rows a query takes; `Infinity` for all.
 *
 * @throws {RangeError} where it does not say a positive integer.
 */
export function takeOf({ take }: PageOptions): number {
  if (take === undefined) return Number.POSITIVE_INFINITY;
  if (Number.isInteger(take) && take > 0) return take;
  throw new RangeError(`take is a positive integer, not ${take}.`);
}

/**
 * Reads a page of rows through an index. It reads one entry more than the page has, where that may be read, to know
 * whether there is another page; where that cannot be known, with a filter or at the end of what may be read, a page may
 * follow that has none.
 *
 * @throws {ReadLimitError} where the page needs more than may be read.
 * @throws {RangeError} where `take` is not a positive integer.
 */
export async function readPage(
  context: TableContext,
  chosen: ChosenPlan,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<Page<FoundRow>> {
  const take = takeOf(query);
  const hasEnd = take !== Number.POSITIVE_INFINITY;
  const reader = new RowReader(context, chosen, query, meter, hasEnd);
  const items: ReadRow[] = [];
  let isCutOff = false;
  while (items.length < take && !isCutOff) {
    const missing = take - items.length;
    const rows = await reader.next(Math.min(missing, maxBatch));
    if (rows.length === 0) return { items, cursor: null };
    isCutOff = rows.length > missing;
    for (const row of isCutOff ? rows.slice(0, missing) : rows) items.push(row);
  }
  const last = items.at(-1);
  if (last === undefined || !(isCutOff || (await reader.hasMore()))) return { items, cursor: null };
  return { items, cursor: encodeCursor(chosen.plan, last.entryKey) };
}

/** The most rows that a stream reads at first: who takes a few does not wait for many. */
const firstBatch = 32;

/**
 * Reads rows through an index, one after another, and holds at most 500 of them. It may be left anywhere.
 *
 * @throws {ReadLimitError} where it comes to more than may be read.
 * @throws {RangeError} where `take` is not a positive integer.
 */
export async function* readStream(
  context: TableContext,
  chosen: ChosenPlan,
  query: AnyQuery,
  meter: ReadMeter,
): AsyncGenerator<FoundRow> {
  let missing = takeOf(query);
  const reader = new RowReader(context, chosen, query, meter, false);
  for (let batch = firstBatch; missing > 0; batch = Math.min(batch * 2, maxBatch)) {
    const rows = await reader.next(Math.min(missing, batch));
    if (rows.length === 0) return;
    for (const row of rows) {
      yield row;
      if (--missing === 0) return;
    }
  }
}
