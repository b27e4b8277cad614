import type { UnindexedRow } from "../../catalog/backfill-state.js";
import type { EntryFinding, FindingCounts, Verification } from "./verify-state.js";

/** What a verification of a model has come to. */
export interface VerifiedModel {
  readonly model: string;
  /** The indexes that were looked at: those that are complete. */
  readonly indexes: readonly string[];
  /** Rows and entries that there were. */
  readonly rows: number;
  readonly entries: number;
  /** The first hundred. */
  readonly findings: readonly EntryFinding[];
  /** All of them. */
  readonly counts: FindingCounts;
  /** How many of them have been put right. */
  readonly repaired: number;
  /** How many of them nothing puts right but a change of one of two rows, which should have the same unique value. */
  readonly conflicts: number;
  /**
   * The first rows that an index cannot hold, as where its function throws for them: queries by it do not find them. No
   * repair puts that right.
   */
  readonly unindexed: readonly UnindexedRow[];
  /** How many there are: a row counts once for each reason. */
  readonly unindexedCount: number;
}

/** What a verification of some indexes of a model has come to, at its end. */
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
