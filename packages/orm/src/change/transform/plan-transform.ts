import {
  type AtomicCheck,
  type KvEntryMaybe,
  type KvKey,
  type KvKeyPart,
  LimitExceededError,
} from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import { claimUniqueKey } from "../../derived/entries/duplicates/claim-unique-key.js";
import { unexpired } from "../../derived/expiry/row-expiry.js";
import { failureReason } from "../../errors/failure-reason.js";
import { RowUpgradeError } from "../../errors/migration-errors.js";
import { IndexKeyError, UniqueConstraintError } from "../../errors/row-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { hasIndexKey, type IndexEntry } from "../../model/keys/index-entries.js";
import { keyText } from "../../model/keys/key-text.js";
import { partsOfId, rowKey } from "../../model/keys/primary-key.js";
import { storedTime } from "../../model/rows/time.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { planChange } from "../../write/commit/plan-change.js";
import type { RecordedOperation } from "../../write/many/shared-commit.js";
import { recordChange, recordedOperation } from "./commit-rows.js";
import { failedRowKey, recordedFailure } from "./failed-rows.js";
import { type RowFailure, upgradeRow } from "./upgraded-row.js";

export interface TransformedRow {
  readonly primaryKey: readonly KvKeyPart[];
  readonly entry: KvEntryMaybe<unknown>;
  readonly isRecorded: boolean;
}

export interface TransformPlan {
  readonly row: TransformedRow;
  /** The operation to commit for the row; undefined if there is nothing to do. */
  readonly operation: RecordedOperation | undefined;
  /** How the number of rows that are recorded as failed changes. */
  readonly failed: -1 | 0 | 1;
  /** The reason why the row is recorded as failed; undefined if it is not. */
  readonly failure?: RowFailure;
}

/**
 * Plans the change of one row. If the row was written after the transform began, it has the new
 * schema already, and nothing is done. Otherwise the row is written in its new form with its index
 * entries, or it is recorded as failed. It keeps its expiry time. The rows that it refers to are
 * not checked, and no hooks are called.
 *
 * @param context has the limits for a single row.
 */
export async function planTransform(
  context: TableContext,
  snapshot: CatalogSnapshot,
  row: TransformedRow,
): Promise<TransformPlan> {
  const { model } = context;
  const { entry, primaryKey } = row;
  // An entry with more key parts than a primary key is not a row.
  const isRow = primaryKey.length === model.primaryKey.length;
  if (!isRow || entry.versionstamp === null) return planDone(context, snapshot, row);
  const upgrade = snapshot.upgradeOf(entry.versionstamp);
  if (upgrade === undefined) return planDone(context, snapshot, row);
  const upgraded = upgradeRow(model, upgrade, entry.value, primaryKey);
  if (!upgraded.ok) return planFailed(context, snapshot, row, upgraded.failure);
  // A removal of values changes only rows that have some.
  if (upgraded.row === entry.value) return planDone(context, snapshot, row);
  try {
    const { versionstamp } = entry;
    const expireAt = storedTime(entry.expireAt);
    const stored = entry.value as AnyRow;
    const found = { primaryKey, row: upgraded.row, stored, versionstamp, expireAt };
    const current = await unexpired(viewOf(context, snapshot), found);
    const change = await planChange(context, snapshot, {
      primaryKey,
      before: current ?? found,
      // An expired row is deleted here instead of later by the database, so that no row of the old
      // schema is left.
      row: current?.row ?? null,
    });
    const takeovers = new Map<string, readonly AtomicCheck[]>();
    for (const added of change.effects.claims) {
      const claim = await claimKey(context, snapshot, added, primaryKey);
      if (claim.failure !== undefined) return planFailed(context, snapshot, row, claim.failure);
      takeovers.set(keyText(added.key), claim.checks);
    }
    const operation = recordChange(context, snapshot, change, takeovers);
    if (row.isRecorded) operation.delete(failedRowKey(context, primaryKey));
    return { row, operation, failed: row.isRecorded ? -1 : 0 };
  } catch (error) {
    if (!isRowError(error)) throw error;
    return planFailed(context, snapshot, row, failureOf(error));
  }
}

export function planFailed(
  context: TableContext,
  snapshot: CatalogSnapshot,
  row: TransformedRow,
  failure: RowFailure,
): TransformPlan {
  const { primaryKey, entry } = row;
  const { versionstamp } = entry;
  const operation = recordedOperation()
    .check(snapshot.check, { key: rowKey(context.model, primaryKey), versionstamp })
    .set(failedRowKey(context, primaryKey), recordedFailure(primaryKey, failure));
  return { row, operation, failed: row.isRecorded ? 0 : 1, failure };
}

export function failureOf(error: unknown): RowFailure {
  if (error instanceof UniqueConstraintError) {
    const { index, ownerId } = error;
    return takenFailure(index, partsOfId(ownerId));
  }
  if (!(error instanceof IndexKeyError)) return { reason: failureReason(error) };
  const { index, field, valueType, cause } = error;
  const thrown = cause === undefined ? "" : `: ${failureReason(cause)}`;
  const reason = `The index ${index} cannot hold ${JSON.stringify(field)} of type ${valueType}${thrown}.`;
  return { reason };
}

/** Deletes the failure record of a row that is gone or was written since. */
function planDone(
  context: TableContext,
  { check }: CatalogSnapshot,
  row: TransformedRow,
): TransformPlan {
  if (!row.isRecorded) return { row, operation: undefined, failed: 0 };
  const operation = recordedOperation().check(check).delete(failedRowKey(context, row.primaryKey));
  return { row, operation, failed: -1 };
}

/** The checks under which a row can take a unique key, or the reason why it cannot. */
type KeyClaim =
  | { readonly checks: readonly AtomicCheck[]; readonly failure?: undefined }
  | { readonly failure: RowFailure };

/**
 * Checks if a row can take a unique key. A key is also free if its present owner is still to be
 * changed and gives up the key then. So rows can exchange their values, in whatever order they are
 * changed.
 */
async function claimKey(
  context: TableContext,
  snapshot: CatalogSnapshot,
  entry: IndexEntry,
  primaryKey: readonly KvKeyPart[],
): Promise<KeyClaim> {
  const { owner, checks } = await claimUniqueKey(viewOf(context, snapshot), entry, primaryKey);
  if (owner === undefined) return { checks };
  const { model, kv } = context;
  const { value, versionstamp } = await kv.get<AnyRow>(rowKey(model, owner));
  // The claim checks the versionstamp of the owner, so the commit fails if the owner has changed
  // since.
  const upgrade = versionstamp === null ? undefined : snapshot.upgradeOf(versionstamp);
  if (upgrade !== undefined) {
    const upgraded = upgradeRow(model, upgrade, value, owner);
    const keepsKey =
      !upgraded.ok || hasIndexKey(model, entry.index, upgraded.row, owner, entry.key);
    if (!keepsKey) return { checks };
  }
  return { failure: takenFailure(entry.index.name, owner) };
}

function takenFailure(index: string, owner: KvKey): RowFailure {
  return { reason: `The row ${formatKey(owner)} has the same value of the unique index ${index}.` };
}

function formatKey(key: KvKey): string {
  const parts = key.map((part) => {
    if (typeof part === "string") return JSON.stringify(part);
    return typeof part === "object" ? Buffer.from(part).toString("hex") : String(part);
  });
  return parts.join(", ");
}

/** True if planning failed because of the row. A retry is then useless. */
function isRowError(error: unknown): boolean {
  return (
    error instanceof IndexKeyError ||
    error instanceof UniqueConstraintError ||
    error instanceof LimitExceededError ||
    // A row that copies fields of this one cannot be read as a row of its own new schema.
    error instanceof RowUpgradeError ||
    // A value that cannot be a key part.
    error instanceof TypeError
  );
}
