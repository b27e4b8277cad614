import { isOneEdit } from "../../text/edits.js";
import type { ParsedQuery, QueryTerm } from "../../text/parsed-query.js";

/** What a query needs of the words of the index. */
export interface WantedWords {
  /** Word → true if its places are needed, because it is in a phrase. */
  readonly exact: ReadonlyMap<string, boolean>;
  /** Words of which only the beginning is known, or which may have one edit. */
  readonly ranges: readonly WantedRange[];
}

/** Words that begin in the same way, of which some belong to a term. */
export interface WantedRange {
  /** Identifies the range. */
  readonly name: string;
  /** How the words begin. */
  readonly start: string;
  readonly accepts: (word: string) => boolean;
  readonly needsPlaces: boolean;
}

export function termsOf({ all, none }: ParsedQuery): readonly QueryTerm[] {
  return [...all.flat(), ...none];
}

export function wantedWords(terms: readonly QueryTerm[]): WantedWords {
  const exact = new Map<string, boolean>();
  const ranges = new Map<string, WantedRange>();
  for (const term of terms) {
    const needsPlaces = term.words.length > 1;
    const last = term.words.length - 1;
    for (const [i, word] of term.words.entries()) {
      if (i === last && term.isPrefix) continue;
      exact.set(word, needsPlaces || exact.get(word) === true);
    }
    const range = rangeOf(term);
    if (range === undefined) continue;
    const known = ranges.get(range.name);
    ranges.set(range.name, {
      ...range,
      needsPlaces: needsPlaces || known?.needsPlaces === true,
    });
  }
  return { exact, ranges: [...ranges.values()] };
}

/** Returns the range of words that a term needs besides its own words. */
export function rangeOf({
  words,
  isPrefix,
  allowsEdit,
}: QueryTerm): Omit<WantedRange, "needsPlaces"> | undefined {
  const last = words.at(-1)!;
  if (isPrefix) return { name: `${last}*`, start: last, accepts: (word) => word.startsWith(last) };
  if (!allowsEdit) return undefined;
  const [first = ""] = last;
  return { name: `${last}~`, start: first, accepts: (word) => isOneEdit(last, word) };
}
