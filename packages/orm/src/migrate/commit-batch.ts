import type { AtomicOperation, KvCommitError, KvCommitResult } from "@keywright/core";
import { isLimitError } from "../transaction/is-limit-error.js";
import type { Lease } from "./lease.js";

/**
 * Commits what a batch of rows comes to. A row may have any number of entries: a batch of several rows that is too large for
 * one commit is taken as one that failed, so that a smaller one is tried.
 *
 * @throws {LeaseLostError} where another runner has the lease.
 */
export async function commitBatch(
  lease: Lease,
  operation: AtomicOperation,
  rows: number,
): Promise<KvCommitResult | KvCommitError> {
  try {
    return await lease.commit(operation);
  } catch (error) {
    if (rows > 1 && isLimitError(error)) return { ok: false };
    throw error;
  }
}
