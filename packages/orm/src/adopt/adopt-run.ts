import { setTimeout as sleep } from "node:timers/promises";
import type { AtomicOperation } from "@keywright/core";
import type { Lease } from "../migrate/run/lease.js";
import { createRun } from "../migrate/run/migration-run.js";
import { Throttle } from "../migrate/run/throttle.js";
import { yieldToEventLoop } from "../transaction/yield-to-event-loop.js";
import type { AdoptProgress } from "./adopt-result.js";

export interface AdoptRun {
  readonly signal: AbortSignal | undefined;
  readonly dryRun: boolean;
  readonly onProgress: (progress: AdoptProgress) => void;
  readonly batchRows: number;
  /** Lets other tasks run after a batch, and waits if `rowsPerSecond` requires it. */
  readonly afterBatch: (rows: number) => Promise<void>;
  /** Commits the progress that `fill` adds, once for each attempt. Does nothing in a dry run. */
  readonly commit: (fill: (operation: AtomicOperation) => void) => Promise<void>;
}

interface AdoptRunOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: AdoptProgress) => void;
  readonly rowsPerSecond?: number;
}

/** Without a lease, the run writes nothing. */
export function adoptRun(lease: Lease | undefined, options: AdoptRunOptions): AdoptRun {
  const { signal, onProgress = () => undefined, rowsPerSecond } = options;
  if (lease === undefined) {
    const throttle = new Throttle(rowsPerSecond ?? Number.POSITIVE_INFINITY);
    const afterBatch = async (rows: number): Promise<void> => {
      const left = throttle.afterBatch(rows, performance.now());
      await yieldToEventLoop();
      if (left > 0) await sleep(left, undefined, signal && { signal }).catch(() => undefined);
    };
    const { batchRows } = throttle;
    return { signal, dryRun: true, onProgress, batchRows, afterBatch, commit: async () => {} };
  }
  const { batchRows, afterBatch } = createRun(lease, { signal, rowsPerSecond });
  const commit = (fill: (operation: AtomicOperation) => void) => lease.write(fill);
  return { signal, dryRun: false, onProgress, batchRows, afterBatch, commit };
}
