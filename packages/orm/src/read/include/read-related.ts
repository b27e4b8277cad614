import type { KvEntry, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { primaryKeyOfEntry, rowInEntry } from "../../model/keys/entry-value.js";
import { rowKey } from "../../model/keys/primary-key.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import { inParallel } from "../../state/context/in-parallel.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { scopedQuery } from "../../state/context/scope.js";
import { foundRow, readKeys } from "../../state/rows/read-rows.js";
import { EntryReader, maxBatch } from "../find/entries/entry-reader.js";
import { isFirstKey } from "../find/rows/row-reader.js";
import { readablePlan } from "../plan/choose-plan.js";
import { planQuery } from "../plan/plan-query.js";
import { isCovered, prefixOf, type QueryPlan, readsWholeKeys } from "../plan/ranges/query-plan.js";

/** One of many queries of the same model. */
export interface RelatedQuery {
  readonly query: Pick<AnyQuery, "where" | "orderBy" | "index" | "select" | "include" | "filter">;
  /** The maximum number of results; undefined for all. */
  readonly take: number | undefined;
}

/**
 * Returns the result for each row, or undefined if the row is left out. `query` is the position of
 * the query that a row was read for.
 */
export type AcceptRows<T> = (
  rows: readonly { readonly query: number; readonly row: FoundRow }[],
) => Promise<readonly (T | undefined)[]>;

interface Reading<T> {
  readonly position: number;
  readonly plan: QueryPlan;
  readonly query: RelatedQuery;
  readonly reader: EntryReader;
  readonly results: T[];
  isDone: boolean;
}

/** An entry that was read for a query, and the row that it leads to. */
interface Candidate<T> {
  readonly reading: Reading<T>;
  readonly key: KvKey;
  readonly primaryKey: readonly KvKeyPart[];
  readonly entry: KvEntryMaybe<unknown>;
}

/** The maximum number of ranges that are read at a time. */
const maxConcurrentRanges = 50;

/** The minimum number of entries per read if a filter may leave rows out. */
const minWithFilter = 16;

/**
 * Reads the rows of many queries of one model together. Each round reads entries for each query, by
 * a range or by whole keys, and then, in one read, the rows that these entries lead to. Queries
 * that need more rows take part in the next round.
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
  queries: readonly RelatedQuery[],
  accept: AcceptRows<T>,
  meter: ReadMeter,
  onLost?: (query: number) => void,
): Promise<T[][]> {
  await view.beginPage(undefined);
  const beginReadings = () =>
    queries.map((query, position) => readingOf<T>(view, query, position, meter));
  let readings = beginReadings();
  if (!readings.every(({ plan }) => view.canRead(plan.index))) {
    // According to the new catalog, another index may serve the queries.
    await view.reload();
    readings = beginReadings();
    const indexes = new Set(readings.map(({ plan: { index } }) => index));
    for (const index of indexes) if (index !== undefined) await view.assertReadable(index);
  }
  let pending = readings;
  while (pending.length > 0) {
    const candidates = await readCandidates(view, pending, meter);
    const rows = await readRowsOf(view, candidates, meter, onLost);
    const accepted = await accept(
      rows.map(({ reading, row }) => ({ query: reading.position, row })),
    );
    for (const [i, { reading }] of rows.entries()) {
      const result = accepted[i];
      const { results, query } = reading;
      if (result === undefined || results.length === query.take) continue;
      results.push(result);
      if (results.length === query.take) reading.isDone = true;
    }
    pending = pending.filter(({ isDone }) => !isDone);
  }
  return readings.map(({ results }) => results);
}

function readingOf<T>(
  view: ReadView,
  query: RelatedQuery,
  position: number,
  meter: ReadMeter,
): Reading<T> {
  const plans = planQuery(view.queriedModel, scopedQuery(view, query.query));
  const plan = readablePlan(view, plans);
  const cost = isCovered(view, plan, query.query) ? 1 : 2;
  const reader = new EntryReader(view, plan, meter, { cost });
  return { position, plan, query, reader, results: [], isDone: false };
}

async function readCandidates<T>(
  view: ReadView,
  readings: readonly Reading<T>[],
  meter: ReadMeter,
): Promise<Candidate<T>[]> {
  const found = readings.every(({ plan }) => readsWholeKeys(plan))
    ? await readPoints(view, readings, meter)
    : await inParallel(readings, maxConcurrentRanges, nextEntries);
  return readings.flatMap((reading, i) => {
    const { index } = reading.plan;
    const candidates: Candidate<T>[] = [];
    for (const entry of found[i] ?? []) {
      const { key, value } = entry;
      const primaryKey =
        index === undefined ? key.slice(1) : primaryKeyOfEntry(view.model, index, value);
      if (primaryKey !== undefined) candidates.push({ reading, key, primaryKey, entry });
    }
    return candidates;
  });
}

/** Reads the entries of queries that name whole keys, in one read. */
async function readPoints<T>(
  view: ReadView,
  readings: readonly Reading<T>[],
  meter: ReadMeter,
): Promise<KvEntry<unknown>[][]> {
  const keys = readings.map(({ plan }) => {
    const segments = plan.reverse ? plan.segments.toReversed() : plan.segments;
    return segments.map((segment) => prefixOf(plan, segment));
  });
  for (const reading of readings) reading.isDone = true;
  const allKeys = keys.flat();
  meter.add(allKeys.length);
  const entries = await readKeys(view, allKeys);
  let next = 0;
  return keys.map(({ length }) => {
    next += length;
    return entries.slice(next - length, next).filter((entry) => entry.versionstamp !== null);
  });
}

async function nextEntries<T>(reading: Reading<T>): Promise<KvEntry<unknown>[]> {
  const { reader, results, query } = reading;
  const { take = Number.POSITIVE_INFINITY } = query;
  const missing = take - results.length;
  const isFiltered = query.query.filter !== undefined;
  const count = Math.min(isFiltered ? Math.max(missing, minWithFilter) : missing, maxBatch);
  const entries = await reader.next(count);
  if (entries.length < count && !(await reader.hasMore())) reading.isDone = true;
  return entries;
}

/**
 * Returns the rows that entries lead to. Leaves out rows that no longer have the key of the entry,
 * and repetitions of a row that a query finds by several keys.
 */
async function readRowsOf<T>(
  view: ReadView,
  candidates: readonly Candidate<T>[],
  meter: ReadMeter,
  onLost?: (query: number) => void,
): Promise<{ reading: Reading<T>; row: FoundRow }[]> {
  const { model } = view;
  const uncovered = candidates.filter(
    ({ reading }) => !isCovered(view, reading.plan, reading.query.query),
  );
  meter.add(uncovered.length);
  const keys = uncovered.map(({ primaryKey }) => rowKey(model, primaryKey));
  const entries = await readKeys(view, keys);
  const rows = new Map(uncovered.map((candidate, i) => [candidate, entries[i]]));
  const found: { reading: Reading<T>; row: FoundRow }[] = [];
  for (const candidate of candidates) {
    const { reading, key, primaryKey, entry } = candidate;
    const { index } = reading.plan;
    const row = foundRow(view, primaryKey, rows.get(candidate) ?? entry);
    if (row === undefined) {
      onLost?.(reading.position);
      continue;
    }
    if (index?.store === "include" && !rows.has(candidate)) {
      // The fields in the entry are not enough to compute the keys of the row.
      found.push({ reading, row: { ...row, row: rowInEntry(index, key, row.row) } });
    } else if (index === undefined || isFirstKey(view, reading.plan, row, key)) {
      found.push({ reading, row });
    } else {
      onLost?.(reading.position);
    }
  }
  return found;
}
