import type { Place } from "./place.js";
import { UnfillableError } from "./unfillable-error.js";

/** How often an unlimited part of a pattern is repeated at most, in the first attempts. */
const maxRepeats = [6, 3, 12, 1, 24, 48, 6, 3, 12] as const;
/** How many numbers of repetitions later attempts go through. */
const sweep = 190;
/** The length of the other parts of a pattern, at most, if a minimum length is large. */
const otherParts = 40;

/**
 * Returns a text that a pattern may describe. First attempts repeat unlimited parts randomly. Later
 * ones go through all numbers of repetitions, to find a text of the right length.
 *
 * @param minLength the minimum length of the text.
 * @throws {UnfillableError} if the pattern has parts that cannot be followed.
 */
export function patternText(place: Place, pattern: RegExp, minLength: number): string {
  const { fakes, attempt, path } = place;
  const round = attempt % (maxRepeats.length + sweep);
  const atMost = maxRepeats[round];
  const start = Math.max(0, minLength - otherParts) - maxRepeats.length;
  try {
    return atMost === undefined
      ? fakes.textOf(pattern, start + round, true)
      : fakes.textOf(pattern, atMost, false);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnfillableError(path, `the pattern has parts that cannot be followed (${reason})`);
  }
}
