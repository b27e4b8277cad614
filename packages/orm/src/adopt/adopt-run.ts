import { setTimeout as sleep } from "node:timers/promises";
import type { AtomicOperation } from "@keywright/core";
import type { Lease } from "../migrate/run/lease.js";
import { migrationRun } from "../migrate/run/migration-run.js";
import { Throttle } from "../migrate/run/throttle.js";
import { letOthersRun } from "../transaction/let-others-run.js";
import type { AdoptProgress } from "./adopt-result.js";

/** A run of an adoption, as each of its models sees it. */
export interface AdoptRun {
  readonly signal: AbortSignal | undefined;
  /** Nothing is written. */
  readonly dryRun: boolean;
  readonly onProgress: (progress: AdoptProgress) => void;
  /** A batch has no more documents. */
  readonly batchRows: number;
  /** Called behind each batch: gives others their turn, and waits where a bound on rows a second says so. */
  readonly took: (rows: number) => Promise<void>;
  /**
   * Commits what the run writes down of itself; in a dry run nothing.
   *
   * @param operation makes the operation, once for each attempt.
   * @throws {LeaseLostError} where another runner has the lease.
   */
  readonly commit: (operation: () => AtomicOperation) => Promise<void>;
}

/** How a run works. */
export interface AdoptRunOptions {
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: AdoptProgress) => void) | undefined;
  readonly rowsPerSecond: number | undefined;
}

/**
 * A run that holds a lease; without one it writes nothing.
 *
 * @throws {RangeError} for a `rowsPerSecond` that is no positive number.
 */
export function adoptRun(lease: Lease | undefined, options: AdoptRunOptions): AdoptRun {
  const { signal, onProgress = () => undefined, rowsPerSecond } = options;
  if (lease === undefined) {
    const throttle = new Throttle(rowsPerSecond ?? Number.POSITIVE_INFINITY);
    const took = async (rows: number): Promise<void> => {
      const left = throttle.took(rows, performance.now());
      await letOthersRun();
      if (left > 0) await sleep(left, undefined, signal && { signal }).catch(() => undefined);
    };
    const commit = () => Promise.resolve();
    return { signal, dryRun: true, onProgress, batchRows: throttle.batchRows, took, commit };
  }
  const { batchRows, took } = migrationRun(lease, { signal, rowsPerSecond });
  const commit = async (operation: () => AtomicOperation): Promise<void> => {
    // Only the lease's own check can fail, and where it is held still the next attempt has the right one.
    while (!(await lease.commit(operation())).ok);
  };
  return { signal, dryRun: false, onProgress, batchRows, took, commit };
}
