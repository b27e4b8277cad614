import { decodeKey, type KvKeyPart } from "@keywright/core";
import type { TextGroup } from "../../derived/text/text-keys.js";
import { indexKeys } from "../../model/keys/index-entries.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { foundRow, readRows } from "../../state/rows/read-rows.js";
import type { IgnoredPart, ParsedQuery, QueryTerm } from "../../text/parsed-query.js";
import { scorerOfTerm } from "../../text/score.js";
import { type BestDoc, BestFirst, type Position } from "./best-docs.js";
import { matchesOf, type TermMatches } from "./match-terms.js";
import { type Highlights, matchedRow } from "./matched-row.js";
import { type AnySearchQuery, parsedSearch } from "./parsed-search.js";
import { type ScoredDocs, type Scorer, scoreSource } from "./score-source.js";
import { decodeSearchCursor, encodeSearchCursor, type SearchStatistics } from "./search-cursor.js";
import { readSources } from "./sources/read-sources.js";
import type { TextSource } from "./sources/text-source.js";
import { termsOf, wantedWords } from "./wanted-words.js";

/** A row that a search has found. */
export interface FoundMatch {
  readonly found: FoundRow;
  readonly score: number;
  readonly highlights: Highlights;
}

/** A page of the rows that a search has found, the best first. */
export interface SearchedRows {
  readonly items: readonly FoundMatch[];
  readonly cursor: string | null;
  /** How many rows match, before `filter`. */
  readonly count: number;
  readonly ignored: readonly IgnoredPart[];
  readonly state: SearchState;
}

/** What a search has read, before it has chosen the rows of the page. */
export interface SearchState {
  readonly group: TextGroup;
  readonly parsed: ParsedQuery;
  /** Those of the fields of the index. */
  readonly weights: readonly number[];
  readonly sources: readonly TextSource[];
  /** The documents of each source that have each term. */
  readonly matches: readonly ReadonlyMap<QueryTerm, TermMatches>[];
  readonly scored: readonly ScoredDocs[];
  readonly statistics: SearchStatistics;
  /** True if the statistics are those of the first page. */
  readonly isResumed: boolean;
  /** When the first of all documents expires, in milliseconds since 1970, or `Infinity`. */
  readonly expireAt: number;
}

/**
 * Finds the rows that match a text, the best first.
 *
 * @throws {UnknownIndexError} if the model has no such text index.
 * @throws {IndexNotReadyError} if it is not built.
 * @throws {InvalidQueryError} if the query is not a string, or `where` not a value of each field of
 * the key of the index.
 * @throws {InvalidCursorError} if the cursor belongs to another search.
 * @throws {ReadLimitError} if it reads more than `maxReads`.
 */
export async function searchRows(
  view: ReadView,
  query: AnySearchQuery,
  meter: ReadMeter,
): Promise<SearchedRows> {
  const { group, parsed, take, passes } = await parsedSearch(view, query);
  meter.index = group.index.name;
  const id = idOf(view, group, query);
  const resumed =
    query.cursor === undefined || query.cursor === null
      ? undefined
      : decodeSearchCursor(view.model.name, id, query.cursor, termsOf(parsed).length);
  const state = await searchState(view, meter, group, parsed, resumed?.statistics);
  const { scored, statistics } = state;
  const count = scored.reduce((sum, { docs }) => sum + docs.length, 0);
  const items: FoundMatch[] = [];
  const seen = new Set<string>();
  const order = new BestFirst(scored, resumed?.after);
  let after: Position | undefined;
  let isCutOff = false;
  let batch = 0;
  while (items.length < take && order.hasMore) {
    const missing = take - items.length;
    // A filter may leave out most rows, so more are read together each time.
    batch = Math.min(maxBatch, Math.max(missing, Math.min(2 * batch, meter.left)));
    const best = await order.next(batch);
    const rows = await readBest(view, meter, best);
    for (const [i, found] of rows.entries()) {
      isCutOff = items.length === take;
      if (isCutOff) break;
      after = best[i]!;
      const row = found && matchOf(view, group, parsed, found, best[i]!, seen);
      if (row !== undefined && (passes?.(row.found.row) ?? true)) items.push(row);
    }
  }
  const cursor =
    items.length < take || after === undefined || !(isCutOff || order.hasMore)
      ? null
      : encodeSearchCursor(id, statistics, after);
  return { items, cursor, count, ignored: parsed.ignored, state };
}

/** How many rows are read together. */
const maxBatch = 200;

function idOf(view: ReadView, { index, values }: TextGroup, { query, typos }: AnySearchQuery) {
  const parts = values.map((value) => [typeof value, String(value)]);
  return JSON.stringify([view.model.name, index.name, parts, query, typos === true]);
}

/** Finds and scores all documents that match. */
async function searchState(
  view: ReadView,
  meter: ReadMeter,
  group: TextGroup,
  parsed: ParsedQuery,
  before: SearchStatistics | undefined,
): Promise<SearchState> {
  const terms = termsOf(parsed);
  const isEmpty = parsed.all.length === 0;
  const sources = isEmpty ? [] : await readSources(view, meter, group, wantedWords(terms));
  const weights = group.index.text!.fields.map(({ weight }) => weight);
  const matches = sources.map(
    (source) => new Map(terms.map((term) => [term, matchesOf(source, term, weights)] as const)),
  );
  const statistics = before ?? statisticsOf(sources, terms, matches);
  const scorers = scorersOf(terms, statistics);
  const scored = sources.map((source, i) => scoreSource(source, parsed, matches[i]!, scorers));
  const expireAt = Math.min(...sources.map((source) => source.expireAt));
  const isResumed = before !== undefined;
  return { group, parsed, weights, sources, matches, scored, statistics, isResumed, expireAt };
}

/** Returns how much each term counts in a document. */
export function scorersOf(
  terms: readonly QueryTerm[],
  statistics: SearchStatistics,
): ReadonlyMap<QueryTerm, Scorer> {
  return new Map(
    terms.map((term, i) => [term, scorerOfTerm(statistics, statistics.matching[i]!)] as const),
  );
}

function statisticsOf(
  sources: readonly TextSource[],
  terms: readonly QueryTerm[],
  matches: readonly ReadonlyMap<QueryTerm, TermMatches>[],
): SearchStatistics {
  let documents = 0;
  let words = 0;
  for (const { docs, lengths, totals, gone } of sources) {
    if (totals !== undefined) {
      documents += totals.documents;
      words += totals.words;
      continue;
    }
    for (let doc = 0; doc < docs; doc++) {
      if (gone?.[doc] === 1) continue;
      documents++;
      words += lengths[doc]!;
    }
  }
  const matching = terms.map((term) =>
    matches.reduce((sum, ofSource) => sum + ofSource.get(term)!.docs.length, 0),
  );
  return { documents, words, matching };
}

async function readBest(
  view: ReadView,
  meter: ReadMeter,
  best: readonly BestDoc[],
): Promise<(FoundRow | undefined)[]> {
  const keys = best.map(({ key }) => decodeKey(key) as readonly KvKeyPart[]);
  meter.add(keys.length);
  const entries = await readRows(view, keys);
  return entries.map((entry, i) => foundRow(view, keys[i]!, entry));
}

/** Returns a row if it matches. It is returned once, whatever the index contains. */
function matchOf(
  view: ReadView,
  group: TextGroup,
  parsed: ParsedQuery,
  found: FoundRow,
  { score, key }: BestDoc,
  seen: Set<string>,
): FoundMatch | undefined {
  const id = String.fromCharCode(...key);
  if (seen.has(id)) return undefined;
  seen.add(id);
  const row = found.stored ?? found.row;
  if (!isInGroup(view, group, row, found.primaryKey)) return undefined;
  const highlights = matchedRow(group.index.text!, parsed, row);
  return highlights && { found, score, highlights };
}

/** True if a row is in the index, among those with the values of the group. */
export function isInGroup(
  { model }: ReadView,
  { index, values }: TextGroup,
  row: FoundRow["row"],
  primaryKey: readonly KvKeyPart[],
): boolean {
  const [key] = indexKeys(model, index, row, primaryKey);
  return key !== undefined && isSameKey(key.slice(1, 1 + values.length), values);
}
