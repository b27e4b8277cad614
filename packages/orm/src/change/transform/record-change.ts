import type { AtomicCheck, Kv } from "@keywright/core";
import type { PlannedChange } from "../../derived/plan-row.js";
import { currentTime } from "../../model/rows/time.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { TableContext } from "../../state/context/table-context.js";
import { commitOperation } from "../../write/commit/commit-change.js";
import { RecordedOperation } from "../../write/many/shared-commit.js";

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
