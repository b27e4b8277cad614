import { setTimeout as sleep } from "node:timers/promises";

const attemptsWithoutPause = 4;
const defaultLongest = 50;

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
