import type { CountedPostings } from "../../../derived/text/format/postings.js";
import type { TextStatistics } from "../../../text/score.js";

/** The documents that contain a word, with its places if they are needed. */
export interface WordPostings extends CountedPostings {
  readonly starts?: Int32Array;
  readonly places?: Int32Array;
}

/** What a query needs of some documents: those of a segment, or all fresh ones. */
export interface TextSource {
  /** The number of the segment. Undefined for fresh documents. */
  readonly segment: number | undefined;
  /** How many documents it has, with those that are gone. */
  readonly docs: number;
  readonly lengths: Int32Array;
  /** True for each document that is gone or has expired. Undefined if none is. */
  readonly gone: Uint8Array | undefined;
  /** How many documents count, and how many words they have, if it is known. */
  readonly totals: TextStatistics | undefined;
  /** When the first of them expires from now on, in milliseconds since 1970, or `Infinity`. */
  readonly expireAt: number;
  readonly words: ReadonlyMap<string, WordPostings>;
  /** The words of each wanted range that it has, by the name of the range. */
  readonly ranges: ReadonlyMap<string, readonly string[]>;
  /** Returns the keys of documents, whose bytes are in the order of primary keys. */
  keysOf(docs: readonly number[]): Promise<readonly Uint8Array[]>;
}

/** How many words of a range count, of each source: the first ones in the order of words. */
export const maxWordsOfRange = 1000;

/** Returns the first of some times that is later than now, or `Infinity`. 0 is no time. */
export function firstAfter(now: number, times: Iterable<number>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const time of times) if (time > now && time < first) first = time;
  return first;
}
