import { Buffer } from "node:buffer";
import type { AtomicCheck, Kv, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { LimitExceededError } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import type { TableContext } from "../../context/table-context.js";
import { messageOf } from "../../errors/message-of.js";
import { IndexKeyError } from "../../errors/row-errors.js";
import { hasIndexKey, type IndexEntry } from "../../indexes/index-entries.js";
import { keyText } from "../../indexes/key-text.js";
import { rowKey } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { claimUniqueKey } from "../../write/commit/claim-unique-key.js";
import { commitOperation } from "../../write/commit/commit-change.js";
import { planChange } from "../../write/commit/plan-change.js";
import { unexpired } from "../../write/commit/row-expiry.js";
import { RecordedOperation } from "../../write/many/shared-commit.js";
import { failedRowKey, storedFailure } from "./failed-rows.js";
import { type RowFailure, upgradeRow } from "./upgraded-row.js";

/** A row to change. */
export interface TransformedRow {
  readonly primaryKey: readonly KvKeyPart[];
  /** As it was read. */
  readonly entry: KvEntryMaybe<unknown>;
  /** It is recorded as failed. */
  readonly isRecorded: boolean;
}

/** What becomes of a row. */
export interface TransformPlan {
  readonly row: TransformedRow;
  /** What is committed for it; undefined where there is nothing to do. */
  readonly operation: RecordedOperation | undefined;
  /** So many rows more are recorded as failed then. */
  readonly failed: -1 | 0 | 1;
  /** Why it is recorded as failed; undefined where it is not. */
  readonly failure?: RowFailure;
}

/**
 * Plans what becomes of a row: nothing where it has been written since the change began, for then it is of the new schema;
 * else it is written as what it becomes, with its index entries, or recorded as failed. It keeps the time at which it
 * expires. The rows that it refers to are not looked for again, and no hook is called.
 *
 * @param context with the limits of what may be done for one row.
 */
export async function planTransform(
  context: TableContext,
  snapshot: CatalogSnapshot,
  row: TransformedRow,
): Promise<TransformPlan> {
  const { model } = context;
  const { entry, primaryKey } = row;
  // What is stored under the key of a row is none.
  const isRow = primaryKey.length === model.primaryKey.length;
  if (!isRow || entry.versionstamp === null) return planDone(context, snapshot, row);
  const upgrade = snapshot.upgradeOf(entry.versionstamp);
  if (upgrade === undefined) return planDone(context, snapshot, row);
  const upgraded = upgradeRow(model, upgrade, entry.value, primaryKey);
  if (!upgraded.ok) return planFailed(context, snapshot, row, upgraded.failure);
  try {
    const { versionstamp, expireAt } = entry;
    const stored = entry.value as AnyRow;
    const found = { primaryKey, row: upgraded.row, stored, versionstamp, expireAt };
    const current = await unexpired(context, snapshot, found);
    const change = await planChange(context, snapshot, {
      primaryKey,
      before: current ?? found,
      // Where its time is over, it goes now rather than when the database clears it up: nothing is left of the old schema.
      row: current?.row ?? null,
      expireIn: undefined,
    });
    const takeovers = new Map<string, readonly AtomicCheck[]>();
    for (const added of change.indexes.added) {
      if (!added.index.unique) continue;
      const claim = await claimKey(context, snapshot, added, primaryKey);
      if (claim.failure !== undefined) return planFailed(context, snapshot, row, claim.failure);
      takeovers.set(keyText(added.key), claim.checks);
    }
    const operation = recordedOperation();
    const recording = { ...context, kv: recordingKv(context.kv, operation) };
    commitOperation(recording, snapshot, change, takeovers, Date.now());
    if (row.isRecorded) operation.delete(failedRowKey(context, primaryKey));
    return { row, operation, failed: row.isRecorded ? -1 : 0 };
  } catch (error) {
    if (!isRowsFault(error)) throw error;
    return planFailed(context, snapshot, row, failureOf(error));
  }
}

/** Plans that a row is recorded as failed, as long as it is as it was read. */
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
    .set(failedRowKey(context, primaryKey), storedFailure(primaryKey, failure));
  return { row, operation, failed: row.isRecorded ? 0 : 1, failure };
}

/** Why a row cannot be written, by what the attempt threw. */
export function failureOf(error: unknown): RowFailure {
  if (!(error instanceof IndexKeyError)) return { reason: messageOf(error) };
  const { index, field, valueType, cause } = error;
  const thrown = cause === undefined ? "" : `: ${messageOf(cause)}`;
  const reason = `The index ${index} cannot hold its ${JSON.stringify(field)}, of type ${valueType}${thrown}.`;
  return { reason };
}

/** A row that is gone, or was written since, is done. */
function planDone(
  context: TableContext,
  { check }: CatalogSnapshot,
  row: TransformedRow,
): TransformPlan {
  if (!row.isRecorded) return { row, operation: undefined, failed: 0 };
  const operation = recordedOperation().check(check).delete(failedRowKey(context, row.primaryKey));
  return { row, operation, failed: -1 };
}

/** What must hold for a row to take a unique key, or why it cannot. */
type KeyClaim =
  | { readonly checks: readonly AtomicCheck[]; readonly failure?: undefined }
  | { readonly failure: RowFailure };

/**
 * Finds out whether a row can have a unique key. One that a row has which will not have it when it is changed itself is
 * free: rows may pass their values on to each other, in any order.
 */
async function claimKey(
  context: TableContext,
  snapshot: CatalogSnapshot,
  entry: IndexEntry,
  primaryKey: readonly KvKeyPart[],
): Promise<KeyClaim> {
  const { owner, checks } = await claimUniqueKey(context, entry, primaryKey);
  if (owner === undefined) return { checks };
  const { model, kv } = context;
  const { value, versionstamp } = await kv.get<AnyRow>(rowKey(model, owner));
  // The claim checks the versionstamp of the owner: where it is another one by now, the commit fails.
  const upgrade = versionstamp === null ? undefined : snapshot.upgradeOf(versionstamp);
  if (upgrade !== undefined) {
    const upgraded = upgradeRow(model, upgrade, value, owner);
    const keeps = !upgraded.ok || hasIndexKey(model, entry.index, upgraded.row, owner, entry.key);
    if (!keeps) return { checks };
  }
  const reason = `Another row has its value of the unique index ${entry.index.name}: ${textOf(owner)}.`;
  return { failure: { reason } };
}

/** A key as people read it. */
function textOf(key: KvKey): string {
  const parts = key.map((part) => {
    if (typeof part === "string") return JSON.stringify(part);
    return typeof part === "object" ? Buffer.from(part).toString("hex") : String(part);
  });
  return parts.join(", ");
}

/** Whether it is the row that cannot be written, by what planning it threw: it makes no sense to try again. */
function isRowsFault(error: unknown): boolean {
  return (
    error instanceof IndexKeyError ||
    error instanceof LimitExceededError ||
    // A value that is no part of any key.
    error instanceof TypeError
  );
}

function recordedOperation(): RecordedOperation {
  return new RecordedOperation(() =>
    Promise.reject(new TypeError("It is committed together with others.")),
  );
}

/** The same database, whose next atomic operation is the one given. */
function recordingKv(kv: Kv, operation: RecordedOperation): Kv {
  return Object.create(kv, { atomic: { value: () => operation } });
}
