import type { UnindexedRow } from "../../catalog/backfill-state.js";
import type { EntryFinding, FindingCounts, Verification } from "./verify-state.js";

/** The result of verifying a model. */
export interface VerifiedModel {
  readonly model: string;
  /** The indexes that were verified. Incomplete indexes are left out. */
  readonly indexes: readonly string[];
  /** The number of rows and entries that were read. */
  readonly rows: number;
  readonly entries: number;
  /** The first 100. */
  readonly findings: readonly EntryFinding[];
  /** The number of findings of each kind, including those not listed. */
  readonly counts: FindingCounts;
  /** How many of the findings were repaired. */
  readonly repaired: number;
  /** Findings of rows with the unique value of another row. Changing a row repairs them. */
  readonly conflicts: number;
  /** The first rows that an index cannot hold. Its queries miss them. They cannot be repaired. */
  readonly unindexed: readonly UnindexedRow[];
  /** The number of such rows. A row counts once for each reason. */
  readonly unindexedCount: number;
}

/** Returns the result of a verification that has ended. */
export function verifiedModel(
  model: string,
  indexes: readonly string[],
  { state, findings }: Verification,
): VerifiedModel {
  const { rows, entries, counts, repaired, conflicts = 0, unindexed } = state;
  return {
    model,
    indexes,
    rows,
    entries,
    findings,
    counts,
    repaired,
    conflicts,
    unindexed: unindexed?.rows ?? [],
    unindexedCount: unindexed?.count ?? 0,
  };
}
