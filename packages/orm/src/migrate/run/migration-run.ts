import { setTimeout as sleep } from "node:timers/promises";
import { letOthersRun } from "../../transaction/let-others-run.js";
import type { Lease } from "./lease.js";
import type { MigrationProgress } from "./migration-progress.js";
import { Throttle } from "./throttle.js";

/** A run of a migration, as the stages that it goes through see it. */
export interface MigrationRun {
  /** All that the run writes is committed through it. */
  readonly lease: Lease;
  /** Stops the run behind the batch in hand. */
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (progress: MigrationProgress) => void;
  /** The next batch has no more rows: fewer beside writers, who wait for it, and where there is a bound on rows a second. */
  readonly batchRows: number;
  /**
   * Called behind each batch, with its number of rows: gives others their turn, and waits where a bound on rows a second
   * says so, until the signal at the latest. Beside writers it rests for longer than the batch took, so that they have more
   * than half of the time. The lease is renewed meanwhile.
   *
   * @throws {LeaseLostError} where another runner has the lease.
   */
  readonly took: (rows: number) => Promise<void>;
}

/** How a run works. */
export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  /** Rows that are read in a second at the most; without it as many as possible. */
  readonly rowsPerSecond?: number | undefined;
}

/** Rows of a batch at the most. */
export const maxBatchRows = 500;
/** The same beside writers. */
const batchBesideWriters = 200;
/** So much longer than it has worked a run rests beside writers. */
const restPerWork = 1.5;

/** The lease is looked after so often while a run waits, in milliseconds. */
const longestSleep = 1000;

/**
 * A run that holds a lease.
 *
 * @throws {RangeError} for a `rowsPerSecond` that is no positive number.
 */
export function migrationRun(lease: Lease, options: RunOptions): MigrationRun {
  const { signal, onProgress = () => undefined } = options;
  const throttle = new Throttle(options.rowsPerSecond ?? Number.POSITIVE_INFINITY);
  let workedSince = performance.now();
  const took = async (rows: number): Promise<void> => {
    await lease.lookAround();
    const now = performance.now();
    const rest = lease.othersWrite ? (now - workedSince) * restPerWork : 0;
    const until = now + Math.max(throttle.took(rows, now), rest);
    await letOthersRun();
    await waitUntil(until);
    workedSince = performance.now();
  };
  const waitUntil = async (until: number): Promise<void> => {
    for (;;) {
      await lease.renew();
      const left = until - performance.now();
      if (left <= 0 || signal?.aborted) return;
      await sleep(Math.min(left, longestSleep), undefined, signal && { signal }).catch(
        () => undefined,
      );
    }
  };
  return {
    lease,
    signal,
    onProgress,
    get batchRows() {
      return Math.min(throttle.batchRows, lease.othersWrite ? batchBesideWriters : maxBatchRows);
    },
    took,
  };
}
