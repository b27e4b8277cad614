import { sleep } from "@keywright/core/platform";

const attemptsWithoutPause = 4;
const defaultLongest = 50;

/**
 * A call that has lost more often than this gets the default limit again. Without pauses, it could
 * use up its attempts.
 */
const attemptsAtFirst = 40;

/**
 * Returns the upper limit of the pause of a call that has lost during its turn, to a process with a
 * line of its own. Others may begin without a pause. So the limit is a multiple of the time of an
 * attempt, which is short on a quick server, and is lower for calls that have lost more often.
 *
 * @param attempt the number of the next attempt.
 * @param milliseconds how long the last attempt has taken.
 */
export function longestPauseInTurn(attempt: number, milliseconds: number): number {
  if (attempt > attemptsAtFirst) return defaultLongest;
  return Math.min(defaultLongest, milliseconds * Math.min(2, 16 / attempt));
}

/**
 * Waits before an attempt, so that competing transactions conflict less often. There is no pause
 * before the first four attempts. Later pauses have a random length, whose maximum doubles with
 * each attempt.
 *
 * @param attempt the number of the attempt, from 1.
 * @param longest the upper limit of the maximum, in milliseconds. The default is 50.
 */
export async function pauseBeforeAttempt(
  attempt: number,
  signal?: AbortSignal,
  longest: number = defaultLongest,
): Promise<void> {
  signal?.throwIfAborted();
  if (attempt <= attemptsWithoutPause) return;
  const maxPause = Math.min(2 ** (attempt - attemptsWithoutPause), longest);
  try {
    await sleep(Math.random() * maxPause, undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
