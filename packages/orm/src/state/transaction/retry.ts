import type { Footprint, Turn, Turns } from "@keywright/core";
import { longestPauseInTurn, pauseBeforeAttempt } from "./pause.js";

/** The result of an attempt that has failed, and may succeed if it is made again. */
export class FailedAttempt {
  readonly errorAfter: (attempts: number) => unknown;
  readonly footprint: (() => Footprint) | undefined;
  readonly isPostponed: boolean;

  /**
   * @param errorAfter returns the error that is thrown if the attempt was the last one, or a
   * promise of it.
   * @param footprint returns what the attempt has read and written, if it can take turns.
   * @param isPostponed true if the attempt was given up because it conflicts with a call that has
   * its turn. The call then takes a turn too.
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

/**
 * The result of an attempt that was given up because it conflicts with a call that has its turn. It
 * is never the last attempt.
 */
export function postponed(footprint: Footprint): FailedAttempt {
  return new FailedAttempt(unlimited, () => footprint, true);
}

export interface RetryOptions {
  /** Unlimited by default. */
  readonly maxAttempts?: number;
  /**
   * The pauses of writers that compete for a row, see `pauseBeforeAttempt`. With `"short"`, a pause
   * takes at most 50 milliseconds. With `"growing"`, it takes at most 10 milliseconds for each
   * attempt so far: if hundreds of writers compete, all succeed only if those with more attempts
   * wait longer. By default, there are no pauses.
   */
  readonly pauses?: "short" | "growing";
  /**
   * The line of the database. Calls that have lost as many attempts as it says, or three, take
   * turns there instead of pausing. A call pauses only if it loses during its turn: to a process
   * with a line of its own, or to a call that takes no turns.
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
        // Another process may have caused the failure, or a commit that is still running.
        const longest = longestPauseInTurn(number + 1, performance.now() - begun);
        await pauseBeforeAttempt(number + 1, signal, longest);
        continue;
      }
      const { footprint, isPostponed } = result;
      const mostLost = turns?.attempts ?? attemptsWithoutTurn;
      if (turns && footprint && (isPostponed || number >= mostLost))
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
