import type { AtomicCheck, AtomicOperation, Kv } from "@keywright/core";
import type { PlannedChange } from "../../derived/plan-row.js";
import { currentTime } from "../../model/rows/time.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { TableLimits } from "../../state/context/model-store.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { Lease } from "../../state/run/lease.js";
import { commitOperation } from "../../write/commit/commit-change.js";
import { RecordedOperation, SharedCommit } from "../../write/many/shared-commit.js";

/** What a run writes for one row. */
export interface RowPlan {
  /** Contains a check of the catalog. Undefined if there is nothing to write. */
  readonly operation: RecordedOperation | undefined;
}

/** The position of a run, which is written in the same commit as the rows before it. */
export interface RunPosition<R> {
  /** The maximum number of mutations that `write` adds. */
  readonly mutations: number;
  /** Adds the position after the first rows to an operation. */
  readonly write: (operation: AtomicOperation, rows: number) => R;
}

/**
 * Commits as many plans as fit into one commit, beginning with the first, and the position after
 * them. The commit checks the lease, so no other runner has changed the position, and the catalog.
 *
 * @returns the result of `write`; undefined if a check failed.
 * @throws {LeaseLostError} if another runner holds the lease. Nothing was written.
 * @throws the error of the database if the commit is too large, or if a plan is refused.
 */
export async function commitRows<R>(
  { kv, limits }: { readonly kv: Kv; readonly limits: TableLimits },
  lease: Lease,
  plans: readonly RowPlan[],
  position: RunPosition<R>,
): Promise<R | undefined> {
  // The lease takes a check, and a mutation that renews it.
  const mutations = limits.mutations - position.mutations - 1;
  const shared = new SharedCommit({ checks: limits.checks - 1, mutations });
  let rows = 0;
  for (const { operation } of plans) {
    if (operation !== undefined && !shared.add(operation)) break;
    rows++;
  }
  const operation = shared.addTo(kv.atomic());
  const result = position.write(operation, rows);
  return (await lease.commit(operation)).ok ? result : undefined;
}

/** Returns the operation of a change, to be committed together with those of other rows. */
export function recordChange(
  context: TableContext,
  snapshot: CatalogSnapshot,
  { effects }: PlannedChange,
  takeovers: ReadonlyMap<string, readonly AtomicCheck[]>,
): RecordedOperation {
  const operation = recordedOperation();
  const recordingContext = { ...context, kv: redirectAtomic(context.kv, operation) };
  commitOperation(recordingContext, snapshot, effects, takeovers, currentTime());
  return operation;
}

export function recordedOperation(): RecordedOperation {
  return new RecordedOperation(() =>
    Promise.reject(new TypeError("It is committed together with others.")),
  );
}

/** Returns the same database, except that `atomic()` returns the operation. */
function redirectAtomic(kv: Kv, operation: RecordedOperation): Kv {
  return Object.create(kv, { atomic: { value: () => operation } });
}
