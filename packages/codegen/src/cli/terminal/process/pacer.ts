import { setTimeout as sleep } from "node:timers/promises";

/** Limits how fast a command reads rows. */
export interface Pacer {
  /** The number of rows to read at once. */
  readonly pageRows: number;
  /** Waits until the next page is due. Ends early if the signal is aborted. */
  readonly wait: (rowsDone: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * Creates a pacer for a loop over pages of rows. A page is at most a quarter of a second's rows, so
 * that reading is even.
 *
 * @param maxPageRows the maximum number of rows in a page, all of which are in memory.
 */
export function createPacer(
  maxPageRows: number,
  rowsPerSecond: number = Number.POSITIVE_INFINITY,
): Pacer {
  const startedAt = performance.now();
  return {
    pageRows: Math.max(1, Math.min(maxPageRows, Math.floor(rowsPerSecond / 4))),
    wait: async (rowsDone, signal) => {
      const delay = startedAt + (rowsDone / rowsPerSecond) * 1000 - performance.now();
      if (delay > 0) await sleep(delay, undefined, { signal }).catch(() => undefined);
    },
  };
}
