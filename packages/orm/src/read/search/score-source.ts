import type { ParsedQuery, QueryTerm } from "../../text/parsed-query.js";
import type { TermMatches } from "./match-terms.js";
import type { TextSource } from "./sources/text-source.js";

/** The documents of a source that match a query, with their scores. */
export interface ScoredDocs {
  readonly source: TextSource;
  /** In no particular order. */
  readonly docs: Int32Array;
  /** Those of the documents at the same positions. */
  readonly scores: Float64Array;
}

/** Returns how much a term counts in a document that has it. */
export type Scorer = (occurrences: number, length: number) => number;

/**
 * Finds the documents of a source that have a term of each group and no excluded term.
 *
 * @param matches the documents that have each term.
 * @param scorers how much a term counts in a document.
 */
export function scoreSource(
  source: TextSource,
  { all, none }: ParsedQuery,
  matches: ReadonlyMap<QueryTerm, TermMatches>,
  scorers: ReadonlyMap<QueryTerm, Scorer>,
): ScoredDocs {
  const sizeOf = (terms: readonly QueryTerm[]) =>
    terms.reduce((sum, term) => sum + matches.get(term)!.docs.length, 0);
  const isEmpty = all.some((terms) => sizeOf(terms) === 0);
  if (isEmpty) return { source, docs: new Int32Array(), scores: new Float64Array() };
  const [first] = all;
  const isWord = all.length === 1 && first!.length === 1 && none.length === 0;
  if (isWord) return scoredTerm(source, matches.get(first![0]!)!, scorers.get(first![0]!)!);
  const { lengths } = source;
  // The position of each document among those of the rarest group, from 1. 0 if it is not there.
  const places = new Int32Array(source.docs);
  const rarest = all.reduce((a, b) => (sizeOf(b) < sizeOf(a) ? b : a));
  const candidates = new Int32Array(sizeOf(rarest));
  let size = 0;
  for (const term of rarest) {
    for (const doc of matches.get(term)!.docs) {
      if (places[doc] !== 0) continue;
      candidates[size++] = doc;
      places[doc] = size;
    }
  }
  // How many of the first groups each has a term of. -1 if it is excluded.
  const groups = new Int16Array(size);
  for (const term of none) {
    for (const doc of matches.get(term)!.docs) if (places[doc] !== 0) groups[places[doc]! - 1] = -1;
  }
  const scores = new Float64Array(size);
  // The order of the additions must not depend on the source, so that equal rows have equal scores.
  for (const [group, terms] of all.entries()) {
    for (const term of terms) {
      const { docs, occurrences } = matches.get(term)!;
      const score = scorers.get(term)!;
      for (let i = 0; i < docs.length; i++) {
        const doc = docs[i]!;
        const place = places[doc]! - 1;
        if (place < 0) continue;
        if (groups[place] === group) groups[place] = group + 1;
        else if (groups[place] !== group + 1) continue;
        scores[place]! += score(occurrences[i]!, lengths[doc]!);
      }
    }
  }
  let kept = 0;
  for (let i = 0; i < size; i++) {
    if (groups[i] !== all.length) continue;
    candidates[kept] = candidates[i]!;
    scores[kept++] = scores[i]!;
  }
  return { source, docs: candidates.subarray(0, kept), scores: scores.subarray(0, kept) };
}

function scoredTerm(
  source: TextSource,
  { docs, occurrences }: TermMatches,
  score: Scorer,
): ScoredDocs {
  const { lengths } = source;
  const scores = new Float64Array(docs.length);
  for (let i = 0; i < docs.length; i++) scores[i] = score(occurrences[i]!, lengths[docs[i]!]!);
  return { source, docs, scores };
}
