import type { AtomicOperation } from "@keywright/core";
import { isLimitError } from "../transaction/limit-error-of.js";
import type { Lease } from "./lease.js";

export interface BatchResult {
  readonly ok: boolean;
  /** The error of the database if the batch is too large for one commit. */
  readonly tooLarge?: unknown;
}

/**
 * Commits the writes for a batch of rows. A row may have any number of entries, so even one row may
 * be too large for one commit.
 *
 * @param build returns the operation. It may throw, because a database may reject an operation that
 * is too large before the commit.
 */
export async function commitBatch(
  lease: Lease,
  build: () => AtomicOperation,
): Promise<BatchResult> {
  try {
    const { ok } = await lease.commit(build());
    return { ok };
  } catch (tooLarge) {
    if (!isLimitError(tooLarge)) throw tooLarge;
    return { ok: false, tooLarge };
  }
}
