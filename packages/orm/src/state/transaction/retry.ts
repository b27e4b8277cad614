import { pauseBeforeAttempt } from "./pause.js";

/** The result of an attempt that has failed, and may succeed if it is made again. */
export class FailedAttempt {
  readonly errorAfter: (attempts: number) => unknown;

  /**
   * @param errorAfter returns the error that is thrown if the attempt was the last one, or a promise
   * of it.
   */
  constructor(errorAfter: (attempts: number) => unknown) {
    this.errorAfter = errorAfter;
  }
}

/** The result of a failed attempt whose number is not limited. */
export const again: FailedAttempt = new FailedAttempt(
  (attempts) => new TypeError(`There were ${attempts} attempts, and their number is limited.`),
);

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
  /** Ends the attempts, also during a pause. */
  readonly signal?: AbortSignal | undefined;
}

const pausePerAttempt = 10;

/**
 * Makes attempts until one of them does not fail, and returns its result.
 *
 * @param attempt is called with the number of the attempt, from 1.
 */
export async function retry<T>(
  attempt: (number: number) => Promise<T | FailedAttempt>,
  { maxAttempts, pauses, signal }: RetryOptions = {},
): Promise<T> {
  for (let number = 1; ; number++) {
    signal?.throwIfAborted();
    if (pauses !== undefined && number > 1) {
      const longest = pauses === "growing" ? pausePerAttempt * number : undefined;
      await pauseBeforeAttempt(number, signal, longest);
    }
    const result = await attempt(number);
    if (!(result instanceof FailedAttempt)) return result;
    if (number === maxAttempts) throw await result.errorAfter(number);
  }
}
