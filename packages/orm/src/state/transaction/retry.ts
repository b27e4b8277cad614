import type { Footprint, Turn, Turns } from "@keywright/core";
import { longestPauseInTurn, pauseBeforeAttempt } from "./pause.js";

/** The result of an attempt that has failed, and may succeed if it is made again. */
export class FailedAttempt {
  readonly errorAfter: (attempts: number) => unknown;
  readonly footprint: (() => Footprint) | undefined;
  readonly isPostponed: boolean;

  /**
   * @param errorAfter returns the error that is thrown if the attempt was the last one, or a promise
   * of it.
   * @param footprint returns what the attempt has read and written, if it can take turns.
   * @param isPostponed true if it was given up for those that take turns, so that it joins them.
   */
  constructor(
    errorAfter: (attempts: number) => unknown,
    footprint?: () => Footprint,
    isPostponed = false,
  ) {
    this.errorAfter = errorAfter;
    this.footprint = footprint;
    this.isPostponed = isPostponed;
  }
}

const unlimited = (attempts: number) =>
  new TypeError(`There were ${attempts} attempts, and their number is limited.`);

/** The result of a failed attempt whose number is not limited. */
export const again: FailedAttempt = new FailedAttempt(unlimited);

/** The result of an attempt that was given up for those that take turns, before its last one. */
export function postponed(footprint: Footprint): FailedAttempt {
  return new FailedAttempt(unlimited, () => footprint, true);
}

export interface RetryOptions {
  /** Unlimited by default. */
  readonly maxAttempts?: number;
  /**
   * The pauses of writers that compete for a row, see `pauseBeforeAttempt`. The longest one is of
   * 50 milliseconds, or else of 10 milliseconds for each attempt that was made: if hundreds
   * compete, all succeed only if those with more attempts wait longer. There are no pauses by
   * default.
   */
  readonly pauses?: "short" | "growing";
  /**
   * The line of the database. Calls that have lost three attempts take turns there, instead of the
   * pauses. There are pauses only if a call loses during its turn: to another process on a server,
   * or to one that takes no turns.
   */
  readonly turns?: Turns | undefined;
  /** Ends the attempts, also during a pause. */
  readonly signal?: AbortSignal | undefined;
}

const pausePerAttempt = 10;
const attemptsWithoutTurn = 3;

/**
 * Makes attempts until one of them does not fail, and returns its result.
 *
 * @param attempt is called with the number of the attempt, from 1, with true if it must not be
 * postponed, and with the turn of the call if it has one.
 */
export async function retry<T>(
  attempt: (number: number, isFinal: boolean, turn: Turn | undefined) => Promise<T | FailedAttempt>,
  { maxAttempts, pauses, turns, signal }: RetryOptions = {},
): Promise<T> {
  let turn: Turn | undefined;
  try {
    for (let number = 1; ; number++) {
      signal?.throwIfAborted();
      const isFinal = turn !== undefined || number === maxAttempts;
      const begun = performance.now();
      const result = await attempt(number, isFinal, turn);
      if (!(result instanceof FailedAttempt)) return result;
      if (number === maxAttempts) throw await result.errorAfter(number);
      if (turn !== undefined) {
        // Another process may be in the way, or a commit that is not done.
        const longest = longestPauseInTurn(number + 1, performance.now() - begun);
        await pauseBeforeAttempt(number + 1, signal, longest);
        continue;
      }
      const { footprint, isPostponed } = result;
      if (turns && footprint && (isPostponed || number >= attemptsWithoutTurn))
        turn = await turns.take(footprint(), signal);
      else if (pauses !== undefined) {
        const longest = pauses === "growing" ? pausePerAttempt * (number + 1) : undefined;
        await pauseBeforeAttempt(number + 1, signal, longest);
      }
    }
  } finally {
    turn?.end();
  }
}
