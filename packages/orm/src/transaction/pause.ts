import { setTimeout as sleep } from "node:timers/promises";

const attemptsWithoutPause = 4;
/** Where hundreds are in each other's way, all of them come through only if they wait longer and longer. */
const pausePerAttempt = 10;

/**
 * Waits before an attempt, so that those who are in each other's way get out of it: not at all before the first four, then
 * a random time whose most doubles with each attempt, up to ten milliseconds for each that there was: a second for a hundred.
 *
 * @param attempt counts from 1.
 * @throws what `signal` was aborted with, as soon as it is.
 */
export async function pauseBeforeAttempt(attempt: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (attempt <= attemptsWithoutPause) return;
  const longest = Math.min(2 ** (attempt - attemptsWithoutPause), pausePerAttempt * attempt);
  try {
    await sleep(Math.random() * longest, undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
