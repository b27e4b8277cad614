import type { AtomicOperation } from "@keywright/core";
import { isLimitError } from "../../transaction/is-limit-error.js";
import type { Lease } from "./lease.js";

/** What became of a commit. */
export interface BatchResult {
  readonly ok: boolean;
  /** What the database threw where it is too large for one commit; absent where it is not. */
  readonly tooLarge?: unknown;
}

/**
 * Commits what a batch of rows comes to. A row may have any number of entries, so that it may be too large for one commit.
 *
 * @param build makes the operation; a database may refuse a part of it at once.
 * @throws {LeaseLostError} where another runner has the lease.
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
