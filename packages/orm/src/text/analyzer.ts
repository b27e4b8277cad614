import type { Language } from "./languages.js";

/**
 * How an index cuts texts into words. It is data: the stored definition of the index contains it,
 * and a change of any of its fields is a rebuild of the index.
 */
export interface Analyzer {
  /** The version of the rules of `analyze` and of the stemmers. See `analyzerVersion`. */
  readonly version: string;
  /** The language whose stemmer is applied. Undefined if words are indexed as they are. */
  readonly language: Language | undefined;
  /** True if words are indexed without their accents, so that `cafe` finds `café`. */
  readonly foldsMarks: boolean;
  /** Words that are not indexed, folded and in ascending order, each once. */
  readonly stopWords: readonly string[];
}

/** A word of a text, as an index stores it. */
export interface Token {
  readonly word: string;
  /** How many words come before it in its text, with stop words. */
  readonly position: number;
  /** Where the word begins in the text, in UTF-16 code units. */
  readonly start: number;
  /** Where it ends, exclusive. */
  readonly end: number;
}

/** The version of the rules by which texts become words, and of the stemmers. */
export const analyzerVersion = "1";
