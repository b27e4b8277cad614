/**
 * One thing that a query looks for in a row: a word, a phrase, or either with a prefix at its end.
 * It occurs in a field of a row at each position where all of its words are.
 */
export interface QueryTerm {
  /** The words as an index stores them, at least one. */
  readonly words: readonly string[];
  /** Word → its position after the first word. The first is 0. Stop words leave gaps. */
  readonly offsets: readonly number[];
  /** True if the last word is a prefix. It is folded, but not reduced to its stem. */
  readonly isPrefix: boolean;
  /**
   * True if words with one edit count too: see `isOneEdit`. Only single words that are no prefix
   * and have at least five letters as typed.
   */
  readonly allowsEdit: boolean;
  /** The positions of the fields in which it may occur. Undefined if in all. */
  readonly fields: readonly number[] | undefined;
}

/** A query as data. A row matches if it has a term of each of `all`, and no term of `none`. */
export interface ParsedQuery {
  /** Groups of alternatives. Without a group, no row matches. */
  readonly all: readonly (readonly QueryTerm[])[];
  readonly none: readonly QueryTerm[];
  /** The parts of the text that have no effect, in their order. */
  readonly ignored: readonly IgnoredPart[];
}

/** A part of a query that has no effect. */
export interface IgnoredPart {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly reason: IgnoredReason;
}

/**
 * Why a part of a query has no effect:
 *
 * - `stopWord`: the index has no such words
 * - `noWord`: it has no letter and no digit
 * - `unknownField`: the index has no such field, so the name is looked for as a word
 * - `quote`: the quotation mark has no partner
 * - `operator`: `OR` needs words on both sides that are not excluded
 * - `onlyExclusions`: a query has to name something to find
 * - `tooLong`: a query has at most 64 terms and 10,000 characters
 */
export type IgnoredReason =
  | "stopWord"
  | "noWord"
  | "unknownField"
  | "quote"
  | "operator"
  | "onlyExclusions"
  | "tooLong";
