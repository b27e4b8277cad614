import { setTimeout as sleep } from "node:timers/promises";
import { letOthersRun } from "../transaction/let-others-run.js";
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
  /** A batch has no more rows, where the run has a bound on rows a second; else infinite. */
  readonly batchRows: number;
  /**
   * Called behind each batch, with its number of rows: gives others their turn, and waits where a bound on rows a second
   * says so, until the signal at the latest. The lease is renewed meanwhile.
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
  const took = async (rows: number): Promise<void> => {
    const until = performance.now() + throttle.took(rows, performance.now());
    await letOthersRun();
    for (;;) {
      await lease.renew();
      const left = until - performance.now();
      if (left <= 0 || signal?.aborted) return;
      await sleep(Math.min(left, longestSleep), undefined, signal && { signal }).catch(
        () => undefined,
      );
    }
  };
  return { lease, signal, onProgress, batchRows: throttle.batchRows, took };
}
