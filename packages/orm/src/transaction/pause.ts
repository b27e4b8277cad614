import { setTimeout as sleep } from "node:timers/promises";

const attemptsWithoutPause = 4;
const longestPause = 50;

/**
 * Waits before an attempt, so that those who are in each other's way get out of it: not at all before the first four, then
 * a random time that grows up to `longest` milliseconds, or 50.
 *
 * @param attempt counts from 1.
 * @throws what `signal` was aborted with, as soon as it is.
 */
export async function pauseBeforeAttempt(
  attempt: number,
  signal?: AbortSignal,
  longest: number = longestPause,
): Promise<void> {
  signal?.throwIfAborted();
  if (attempt <= attemptsWithoutPause) return;
  const most = Math.min(2 ** (attempt - attemptsWithoutPause), longest);
  try {
    await sleep(Math.random() * most, undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
