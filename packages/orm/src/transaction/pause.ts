import { setTimeout as sleep } from "node:timers/promises";

const attemptsWithoutPause = 4;
const longestPause = 50;

/**
 * Waits before an attempt, so that those who are in each other's way get out of it: not at all before the first four, then
 * a random time that grows up to 50 milliseconds.
 *
 * @param attempt counts from 1.
 * @throws what `signal` was aborted with, as soon as it is.
 */
export async function pauseBeforeAttempt(attempt: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (attempt <= attemptsWithoutPause) return;
  const longest = Math.min(2 ** (attempt - attemptsWithoutPause), longestPause);
  try {
    await sleep(Math.random() * longest, undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
