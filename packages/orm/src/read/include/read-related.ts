import type { KvListedEntry } from "@keywright/core";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { primaryKeyOfEntry, rowInEntry, selectedFields } from "../../model/keys/entry-value.js";
import { inParallel } from "../../promises/in-parallel.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import {
  entriesThatLead,
  leadsByValue,
  linkedRow,
  readLinkedRows,
} from "../../state/rows/linked-rows.js";
import { listedRow } from "../../state/rows/listed-row.js";
import { readKeys, type StoredValue } from "../../state/rows/read-rows.js";
import { listedEntries } from "../../state/transaction/reads/list-as-page.js";
import { EntryReader, maxBatch } from "../find/entries/entry-reader.js";
import { maySkipEntries, RangeWalk, rangesOf } from "../find/entries/walk-ranges.js";
import { isRowOfEntry } from "../find/rows/row-reader.js";
import { type EachQuery, planEach } from "../plan/plan-each.js";
import { isCovered, prefixOf, type QueryPlan, readsWholeKeys } from "../plan/ranges/query-plan.js";

/** The same query for many values of some fields, each with a maximum number of results. */
export interface RelatedQueries extends EachQuery {
  /** Undefined for all results. */
  readonly take: number | undefined;
}

/**
 * Returns the result for each row, or undefined if the row is left out. `query` is the position of
 * the values that a row was read for.
 */
export type AcceptRows<T> = (
  rows: readonly RelatedFound[],
) => readonly (T | undefined)[] | Promise<readonly (T | undefined)[]>;

export interface RelatedFound {
  readonly query: number;
  readonly row: FoundRow;
}

/** What is read for one of the values. */
interface Reading<T> {
  readonly position: number;
  readonly plan: QueryPlan;
  /** True if the entries hold all that the query returns. */
  readonly isCovered: boolean;
  readonly results: T[];
  /** Begins after the entries that were read in another way. */
  reader: EntryReader | undefined;
  /** The last entry that was read in another way. */
  last: KvListedEntry | undefined;
  isDone: boolean;
}

/** An entry that was read for a query, and the row that it leads to. */
interface Candidate<T> {
  readonly reading: Reading<T>;
  readonly entry: KvListedEntry;
}

/** The maximum number of ranges that are read at a time. */
const maxConcurrentRanges = 50;

/** The minimum number of entries per read if a filter may leave rows out. */
const minWithFilter = 16;

/**
 * Reads the rows of many queries of one model together. Each round reads entries for each query, by
 * a range or by whole keys, and then, in one read, the rows that these entries lead to. Queries
 * that need more rows take part in the next round. If it may skip entries, the first rounds make
 * one pass over all ranges. Each reads fewer than 1,000 of its entries.
 *
 * @param onLost is called with the position of a query for which an entry led to no row. A commit
 * may have come between the reads of the two.
 * @returns for each query the results that `accept` has returned for its rows.
 * @throws {UnindexedQueryError} if no index serves the queries.
 * @throws {IndexNotReadyError} if the index is not built.
 * @throws {ReadLimitError} if more must be read than `meter` allows.
 */
export async function readRelated<T>(
  view: ReadView,
  queries: RelatedQueries,
  accept: AcceptRows<T>,
  meter: ReadMeter,
  onLost?: (query: number) => void,
): Promise<T[][]> {
  await view.beginPage(undefined);
  let plans = planEach(view, queries);
  if (!plans.every(({ index }) => view.canRead(index))) {
    // According to the new catalog, another index may serve the queries.
    await view.reload();
    plans = planEach(view, queries);
    const indexes = new Set(plans.map(({ index }) => index));
    for (const index of indexes) if (index !== undefined) await view.assertReadable(index);
  }
  const readings = plans.map(
    (plan, position): Reading<T> => ({
      position,
      plan,
      isCovered: isCovered(view, plan, queries.query),
      results: [],
      reader: undefined,
      last: undefined,
      isDone: false,
    }),
  );
  const { take } = queries;
  const fields = selectedFields(queries.query.select);
  let pending: readonly Reading<T>[] = readings;
  const isPoints = plans.every(readsWholeKeys);
  const walk = isPoints ? undefined : walkOf(view, queries, readings, meter);
  while (pending.length > 0) {
    const candidates: Candidate<T>[] = [];
    const add = (reading: Reading<T>, entries: readonly KvListedEntry[]): void =>
      addCandidates(view, reading, entries, candidates);
    if (isPoints) {
      await readPoints(view, pending, meter, add);
    } else {
      let unread = pending;
      if (walk?.isEnded === false) {
        while (!walk.isEnded && candidates.length < maxBatch)
          await walkOn(view, walk, readings, add);
        // The others continue in the next round, after the entries that were read.
        unread = walk.isEnded
          ? pending.filter(({ last, isDone }) => last === undefined && !isDone)
          : [];
      }
      const found = await inParallel(unread, maxConcurrentRanges, (reading) =>
        nextEntries(view, reading, queries, meter),
      );
      for (const [i, reading] of unread.entries()) add(reading, found[i]!);
    }
    const rows = await readRowsOf(view, candidates, fields, meter, onLost);
    const accepted = rows.length === 0 ? [] : await accept(rows);
    for (let i = 0; i < rows.length; i++) {
      const result = accepted[i];
      const reading = readings[rows[i]!.query]!;
      if (result === undefined || reading.results.length === take) continue;
      reading.results.push(result);
      if (reading.results.length === take) reading.isDone = true;
    }
    pending = pending.filter(({ isDone }) => !isDone);
  }
  return readings.map(({ results }) => results);
}

function addCandidates<T>(
  view: ReadView,
  reading: Reading<T>,
  entries: readonly KvListedEntry[],
  candidates: Candidate<T>[],
): void {
  const { index } = reading.plan;
  const leading =
    index === undefined || reading.isCovered ? entries : entriesThatLead(view, index, entries);
  for (const entry of leading) candidates.push({ reading, entry });
}

/** Reads the entries of queries that name whole keys, in one read. */
async function readPoints<T>(
  view: ReadView,
  readings: readonly Reading<T>[],
  meter: ReadMeter,
  add: (reading: Reading<T>, entries: readonly KvListedEntry[]) => void,
): Promise<void> {
  const keys = readings.map(({ plan }) => {
    const segments = plan.reverse ? plan.segments.toReversed() : plan.segments;
    return segments.map((segment) => prefixOf(plan, segment));
  });
  const allKeys = keys.flat();
  meter.add(allKeys.length);
  const entries = await readKeys(view, allKeys);
  let next = 0;
  for (const [i, reading] of readings.entries()) {
    const { length } = keys[i]!;
    next += length;
    add(reading, listedEntries(entries.slice(next - length, next)));
    reading.isDone = true;
  }
}

/** Returns the pass over the ranges of all queries. Undefined if they cannot be read in one. */
function walkOf(
  view: ReadView,
  queries: RelatedQueries,
  readings: readonly Reading<unknown>[],
  meter: ReadMeter,
): RangeWalk | undefined {
  if (!maySkipEntries(view, meter)) return undefined;
  const ranges = rangesOf(readings.map(({ plan }) => plan));
  const withValues = readings.some(needsValues);
  return ranges && new RangeWalk(view, ranges, { most: wantedOf(queries, 0), withValues }, meter);
}

/** True if the values of entries hold the rows, or are needed to find them. */
function needsValues<T>({ plan, isCovered: isInEntry }: Reading<T>): boolean {
  return isInEntry || plan.index === undefined || leadsByValue(plan.index);
}

/** Reads the next entries of a pass over all ranges. */
async function walkOn<T>(
  view: ReadView,
  walk: RangeWalk,
  readings: readonly Reading<T>[],
  add: (reading: Reading<T>, entries: readonly KvListedEntry[]) => void,
): Promise<void> {
  const due = view.beginPage(readings[0]!.plan.index);
  if (due !== undefined) await due;
  for (const { position, entries } of await walk.next()) {
    const reading = readings[position]!;
    reading.last = entries.at(-1);
    add(reading, entries);
  }
  for (const { position, isWhole } of walk.ranges) if (isWhole) readings[position]!.isDone = true;
}

/** Returns the number of entries to read for a query that has some results. */
function wantedOf({ query, take }: RelatedQueries, results: number): number {
  if (take === undefined) return Number.POSITIVE_INFINITY;
  const missing = take - results;
  return query.filter === undefined ? missing : Math.max(missing, minWithFilter);
}

async function nextEntries<T>(
  view: ReadView,
  reading: Reading<T>,
  queries: RelatedQueries,
  meter: ReadMeter,
): Promise<KvListedEntry[]> {
  const { plan, last } = reading;
  const cost = reading.isCovered ? 1 : 2;
  const withValues = needsValues(reading);
  reading.reader ??= new EntryReader(view, plan, meter, { after: last?.key, cost, withValues });
  const count = Math.min(wantedOf(queries, reading.results.length), maxBatch);
  const entries = await reading.reader.next(count);
  if (entries.length < count && !(await reading.reader.hasMore())) reading.isDone = true;
  return entries;
}

/**
 * Returns the rows that entries lead to. Leaves out rows that no longer have the key of the entry,
 * and repetitions of a row that a query finds by several keys.
 */
async function readRowsOf<T>(
  view: ReadView,
  candidates: readonly Candidate<T>[],
  fields: readonly string[] | undefined,
  meter: ReadMeter,
  onLost?: (query: number) => void,
): Promise<RelatedFound[]> {
  const stored = await readStoredOf(view, candidates, meter);
  const found: RelatedFound[] = [];
  for (const [i, { reading, entry }] of candidates.entries()) {
    const { plan, position: query, isCovered: isInEntry } = reading;
    const { index } = plan;
    const row =
      index === undefined || isInEntry
        ? rowInOwnEntry(view, index, entry)
        : linkedRow(view, index, entry, stored[i]);
    if (row === undefined) {
      onLost?.(query);
    } else if (index?.store === "include" && isInEntry) {
      // The fields in the entry are not enough to compute the keys of the row.
      const { primaryKey, versionstamp, expireAt } = row;
      const own = rowInEntry(index, entry, row.row, fields);
      found.push({ query, row: { primaryKey, row: own, versionstamp, expireAt } });
    } else if (isRowOfEntry(view, plan, row, entry)) {
      found.push({ query, row });
    } else {
      onLost?.(query);
    }
  }
  return found;
}

function rowInOwnEntry(
  view: ReadView,
  index: CompiledIndex | undefined,
  entry: KvListedEntry,
): FoundRow | undefined {
  if (index === undefined) return listedRow(view, entry, entry, 1);
  const primaryKey = primaryKeyOfEntry(view.model, index, entry.value);
  return primaryKey && listedRow(view, entry, entry, primaryKey);
}

/** Returns what is stored for the rows to which candidates lead that do not contain them. */
async function readStoredOf<T>(
  view: ReadView,
  candidates: readonly Candidate<T>[],
  meter: ReadMeter,
): Promise<(StoredValue | undefined)[]> {
  // Most queries of one call are served by the same index.
  const byIndex = new Map<CompiledIndex, number[]>();
  for (const [i, { reading }] of candidates.entries()) {
    const { index } = reading.plan;
    if (index === undefined || reading.isCovered) continue;
    const positions = byIndex.get(index);
    if (positions === undefined) byIndex.set(index, [i]);
    else positions.push(i);
  }
  const stored: (StoredValue | undefined)[] = [];
  for (const [index, positions] of byIndex) {
    meter.add(positions.length);
    const entries = positions.map((i) => candidates[i]!.entry);
    const rows = await readLinkedRows(view, index, entries);
    for (const [i, position] of positions.entries()) stored[position] = rows[i];
  }
  return stored;
}
