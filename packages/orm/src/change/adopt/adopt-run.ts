import { setTimeout as sleep } from "node:timers/promises";
import type { AtomicOperation } from "@keywright/core";
import { yieldToEventLoop } from "../../promises/yield-to-event-loop.js";
import type { Lease } from "../../state/run/lease.js";
import { createRun, Throttle } from "../../state/run/migration-run.js";
import type { AdoptProgress } from "./adopt-result.js";

export interface AdoptRun {
  readonly signal: AbortSignal | undefined;
  readonly dryRun: boolean;
  readonly restoreDeleted: boolean;
  readonly onProgress: (progress: AdoptProgress) => void;
  readonly batchRows: number;
  /** Lets other tasks run after a batch, and waits if `rowsPerSecond` requires it. */
  readonly afterBatch: (rows: number) => Promise<void>;
  /** The lease through which the run commits everything. Undefined in a dry run. */
  readonly lease: Lease | undefined;
  /** Commits the progress that `fill` adds, once for each attempt. Does nothing in a dry run. */
  readonly commit: (fill: (operation: AtomicOperation) => void) => Promise<void>;
}

interface AdoptRunOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: AdoptProgress) => void;
  readonly rowsPerSecond?: number;
  readonly restoreDeleted?: boolean;
}

/** @param lease undefined for a dry run, which writes nothing. */
export function adoptRun(lease: Lease | undefined, options: AdoptRunOptions): AdoptRun {
  const { signal, onProgress = () => undefined, rowsPerSecond, restoreDeleted = false } = options;
  const common = { lease, signal, onProgress, restoreDeleted };
  if (lease === undefined) {
    const throttle = new Throttle(rowsPerSecond ?? Number.POSITIVE_INFINITY);
    const afterBatch = async (rows: number): Promise<void> => {
      const left = throttle.afterBatch(rows, performance.now());
      await yieldToEventLoop();
      if (left > 0) await sleep(left, undefined, signal && { signal }).catch(() => undefined);
    };
    const { batchRows } = throttle;
    return { ...common, dryRun: true, batchRows, afterBatch, commit: async () => {} };
  }
  const run = createRun(lease, { signal, rowsPerSecond });
  return {
    ...common,
    dryRun: false,
    get batchRows() {
      return run.batchRows;
    },
    afterBatch: run.afterBatch,
    commit: (fill) => lease.write(fill),
  };
}
