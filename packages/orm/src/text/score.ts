/** Statistics of the rows with the same key, among which a search looks. */
export interface TextStatistics {
  /** How many rows there are. */
  readonly documents: number;
  /** How many words they have in all fields together, without stop words. */
  readonly words: number;
}

const k1 = 1.2;
const b = 0.75;

/**
 * Returns how much a term tells: `ln(1 + (N - n + 0.5) / (n + 0.5))`, as Lucene does. It is always
 * positive.
 *
 * @param matching how many rows have the term.
 */
export function inverseFrequency(documents: number, matching: number): number {
  return Math.log(1 + (Math.max(documents - matching, 0) + 0.5) / (matching + 0.5));
}

/**
 * Returns a function from the occurrences of a term in a row, and the row's length, to its share of
 * the score: BM25 with k1 = 1.2 and b = 0.75. The score of a row is the sum over its terms.
 *
 * @param matching how many rows have the term.
 */
export function scorerOfTerm(
  { documents, words }: TextStatistics,
  matching: number,
): (occurrences: number, length: number) => number {
  const weight = inverseFrequency(documents, matching) * (k1 + 1);
  const average = documents > 0 && words > 0 ? words / documents : 1;
  const byLength = (k1 * b) / average;
  return (occurrences, length) =>
    (weight * occurrences) / (occurrences + k1 * (1 - b) + byLength * length);
}

/** How much an occurrence counts of a word that differs from the query's by one edit. */
export const weightOfEdited = 0.5;
