import { type Progress, ProgressMeter } from "@keywright/core";
import { sleep } from "@keywright/core/platform";
import { assertArgument, positive } from "../../model/shape.js";
import { yieldToEventLoop } from "../../promises/yield-to-event-loop.js";
import type { Lease } from "./lease.js";

/**
 * The phase of a run:
 *
 * - `"counting"`: counts the rows, so that the progress has a total
 * - `"dropping"`: removes the entries of dropped indexes
 * - `"transforming"`: changes rows
 * - `"building"`: writes the entries of new indexes, or counts the rows for new counters
 * - `"verifying"`: verifies the entries of new indexes
 */
export type MigrationPhase = "counting" | "dropping" | "transforming" | "building" | "verifying";

/** The progress of a run with one model, in rows, or in entries in the phase `"dropping"`. */
export type MigrationProgress = Progress<MigrationPhase> & {
  readonly model: string;
  /** The indexes that the run works on. Empty while it changes rows or builds counters. */
  readonly indexes: readonly string[];
};

/** The part of a migration's run that its stages use. */
export interface MigrationRun {
  /**
   * The lease through which the run commits everything that it writes. So every function that gets
   * a run throws a `LeaseLostError` if another runner has taken over.
   */
  readonly lease: Lease;
  /** Stops the run after the current batch. */
  readonly signal: AbortSignal | undefined;
  /** Returns a meter that reports the progress of a stage, which may work on some indexes. */
  readonly meter: (
    model: string,
    indexes?: readonly string[],
  ) => ProgressMeter<MigrationPhase, Pick<MigrationProgress, "model" | "indexes">>;
  /** The maximum size of the next batch. Smaller while others write, because they wait for it. */
  readonly batchRows: number;
  /**
   * True if the next batch may be read before the current one is committed. False while others
   * write or `rowsPerSecond` is set, because the run then waits after each batch, and the rows
   * would have changed.
   */
  readonly readsAhead: boolean;
  /**
   * Must be called after each batch, with its number of rows. Lets other tasks run, and then waits
   * as long as `rowsPerSecond` requires, or until the signal is aborted. While others write, it
   * waits for longer than the batch took, so that they have more than half of the time. It
   * renews the lease while it waits.
   *
   * @throws {LeaseLostError} if another runner holds the lease.
   */
  readonly afterBatch: (rows: number) => Promise<void>;
}

/** The options of a run. */
export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  /** The maximum number of rows that are read per second. Unlimited by default. */
  readonly rowsPerSecond?: number | undefined;
}

export const maxBatchRows = 500;
/** The maximum number of rows in a batch while others write. */
const maxBatchRowsBesideWriters = 200;
/** While others write, a run rests this many times as long as it has worked. */
const restRatio = 1.5;

/** A waiting run checks its lease at this interval, in milliseconds. */
const maxSleep = 1000;

/** @throws {InvalidArgumentError} if `rowsPerSecond` is not a positive number. */
export function createRun(lease: Lease, options: RunOptions): MigrationRun {
  const { signal, onProgress = () => undefined } = options;
  const throttle = new Throttle(options.rowsPerSecond ?? Number.POSITIVE_INFINITY);
  let workStartedAt = performance.now();
  const afterBatch = async (rows: number): Promise<void> => {
    await lease.probeOtherWriters();
    const now = performance.now();
    const rest = lease.hasOtherWriters ? (now - workStartedAt) * restRatio : 0;
    const until = now + Math.max(throttle.afterBatch(rows, now), rest);
    await yieldToEventLoop();
    await waitUntil(until);
    workStartedAt = performance.now();
  };
  const waitUntil = async (until: number): Promise<void> => {
    for (;;) {
      await lease.renew();
      const remaining = until - performance.now();
      if (remaining <= 0 || signal?.aborted) return;
      await sleep(Math.min(remaining, maxSleep), undefined, signal && { signal }).catch(
        () => undefined,
      );
    }
  };
  return {
    lease,
    signal,
    meter: (model, indexes = []) => new ProgressMeter(onProgress, { model, indexes }),
    get batchRows() {
      return Math.min(
        throttle.batchRows,
        lease.hasOtherWriters ? maxBatchRowsBesideWriters : maxBatchRows,
      );
    },
    get readsAhead() {
      return options.rowsPerSecond === undefined && !lease.hasOtherWriters;
    },
    afterBatch,
  };
}

/** Calculates how long to wait, so that a maximum number of rows per second is not exceeded. */
export class Throttle {
  readonly #rowsPerSecond: number;
  #freeAt = Number.NEGATIVE_INFINITY;

  /**
   * @param rowsPerSecond the maximum; infinity for no limit.
   * @throws {InvalidArgumentError} if it is not a positive number.
   */
  constructor(rowsPerSecond: number) {
    assertArgument("", "rowsPerSecond", rowsPerSecond, positive);
    this.#rowsPerSecond = rowsPerSecond;
  }

  /** The number of rows for a quarter of a second, at least 1. A batch should not have more. */
  get batchRows(): number {
    return Math.max(1, Math.floor(this.#rowsPerSecond / 4));
  }

  /** Records rows at a time in milliseconds. Returns how long to wait before the next rows. */
  afterBatch(rows: number, now: number): number {
    // Unused time does not accumulate.
    this.#freeAt = Math.max(this.#freeAt, now) + (rows / this.#rowsPerSecond) * 1000;
    return this.#freeAt - now;
  }
}
