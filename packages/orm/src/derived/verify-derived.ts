import type { UnindexedRow } from "../state/catalog/backfill-state.js";
import type { RelatedStore } from "../state/context/table-context.js";
import type { MigrationRun } from "../state/run/migration-run.js";
import { dropDerived, maintained } from "./build-derived.js";
import type { CheckedCopies } from "./copies/copies-verifier.js";
import type { CheckedCounters } from "./counters/counters-verifier.js";
import type { EntryFinding, FindingCounts } from "./entries/verify/inspect-entry.js";
import { runScans, withVerification } from "./verify/run-scans.js";
import type { RenewRows, VerificationOptions, VerifyContext } from "./verify/verifier.js";

/** The result of verifying the indexes of a model. */
export interface VerifiedEntries {
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
  /**
   * How many of the findings are rows that should have the same unique value as another row. Only a
   * change of one of the two rows can repair these.
   */
  readonly conflicts: number;
  /**
   * The first rows that an index cannot hold, for example because its function throws for them.
   * Queries by that index do not find them. They cannot be repaired.
   */
  readonly unindexed: readonly UnindexedRow[];
  /** The number of such rows. A row counts once for each reason. */
  readonly unindexedCount: number;
}

/** The result of verifying a model. */
export interface VerifiedModel extends VerifiedEntries {
  /**
   * Counts, sums and ranks that differ from the rows. They are not checked if `indexes` are named,
   * or if they are built anyway.
   */
  readonly counters: CheckedCounters;
  /** Rows whose copied fields differ. They are not checked if `indexes` are named. */
  readonly copies: CheckedCopies;
}

/**
 * Verifies everything that is derived from the rows of a model, and repairs it if `repair` is set.
 *
 * @param renewRows repairs rows with wrong copies.
 * @returns `"stopped"` if the signal stopped it. The next call resumes there.
 */
export async function verifyDerived(
  store: RelatedStore,
  run: MigrationRun,
  options: VerificationOptions,
  renewRows: RenewRows,
): Promise<VerifiedModel | "stopped"> {
  return await withVerification({ ...options, store, run, renewRows }, async (context) => {
    const verifiers = maintained.map(({ verifier }) => verifier);
    if (!(await runScans(context, verifiers))) return "stopped";
    for (const kind of maintained) {
      if (!(await kind.verifier.mustRebuild?.(context))) continue;
      const isBuilt =
        (await dropDerived(store, run)) && (await kind.build(store, run, { renewRows }));
      if (!isBuilt) return "stopped";
    }
    return verifiedModel(context);
  });
}

function verifiedModel({ store, indexes, verification, repair }: VerifyContext): VerifiedModel {
  const { state, listed } = verification;
  const { rows, entries, counts, repaired, conflicts, unindexed, counters, copies } = state;
  return {
    model: store.model.name,
    indexes: indexes.map(({ name }) => name),
    rows,
    entries,
    findings: listed.finding,
    counts,
    repaired,
    conflicts,
    unindexed: unindexed?.rows ?? [],
    unindexedCount: unindexed?.count ?? 0,
    copies: { count: copies.count, first: listed.copy, repaired: copies.repaired },
    counters: {
      count: counters.count,
      first: listed.counter,
      unchecked: counters.unchecked,
      repaired: repair ? counters.count : 0,
    },
  };
}
