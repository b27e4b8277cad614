import type { KvEntryMaybe, KvKeyPart } from "@keywright/core";
import { failureReason } from "../../errors/failure-reason.js";
import { MigrationMissingError, RowUpgradeError } from "../../errors/migration-errors.js";
import { StoredRowInvalidError } from "../../errors/row-errors.js";
import { StaleSchemaError } from "../../errors/schema-errors.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import { isMarked } from "../../model/options/soft-delete.js";
import { assertStoredRow, isRow } from "../../model/rows/stored-row.js";
import { storedTime } from "../../model/rows/time.js";
import type { FoundRow } from "../context/any-query.js";
import { isInScope } from "../context/scope.js";
import type { RelatedStore } from "../context/table-context.js";

/**
 * Returns the row that is stored under a key. Undefined if there is none, if the row is outside of
 * the scope of the context, or if it is marked as deleted and the context does not read such rows.
 * Every read of a row goes through here, except those of index entries that have only rows of the
 * scope and no marked rows.
 *
 * @param orAsStored true to return a row as it is stored if it cannot be upgraded. For a stored
 * value that is not a row, a row with only the primary key is returned.
 */
export function foundRow(
  context: RelatedStore,
  primaryKey: readonly KvKeyPart[],
  entry: KvEntryMaybe<unknown>,
  orAsStored = false,
): FoundRow | undefined {
  const found = storedRow(context, primaryKey, entry, orAsStored);
  const { model, withDeleted, scope } = context;
  if (found === undefined) return undefined;
  if (scope !== undefined && !isInScope(context, found.row)) return undefined;
  if (model.softDelete === undefined || withDeleted) return found;
  return isMarked(model, found.row) ? undefined : found;
}

function storedRow(
  context: RelatedStore,
  primaryKey: readonly KvKeyPart[],
  entry: KvEntryMaybe<unknown>,
  orAsStored: boolean,
): FoundRow | undefined {
  if (entry.versionstamp === null) return undefined;
  const { value, versionstamp } = entry;
  const expireAt = entry.expireAt === undefined ? undefined : storedTime(entry.expireAt);
  if (orAsStored && !isRow(value)) {
    const keyFields = context.model.primaryKey.map((field, i) => [field, primaryKey[i]] as const);
    // Such a value has no other fields and no index entries.
    return {
      primaryKey,
      row: Object.fromEntries(keyFields),
      stored: {},
      versionstamp,
      expireAt,
    };
  }
  const { snapshot } = context.catalog;
  const upgrade = snapshot.upgradesRows ? snapshot.upgradeOf(versionstamp) : undefined;
  if (upgrade === undefined) {
    if (context.settings.validateReads || !isRow(value)) assertRow(context, value, primaryKey);
    return { primaryKey, row: value as AnyRow, versionstamp, expireAt };
  }
  const stored = value as AnyRow;
  let row = stored;
  try {
    row = upgradeRow(context, value, primaryKey, upgrade);
  } catch (error) {
    const isUpgradeError = error instanceof RowUpgradeError || isUnfit(error);
    // A row that is only marked is stored again, so it must have the program's schema.
    const isMarkable = context.model.softDelete !== undefined && !context.purges;
    if (!orAsStored || !isUpgradeError || isMarkable) throw error;
  }
  return { primaryKey, row, stored, versionstamp, expireAt };
}

function upgradeRow(
  context: RelatedStore,
  value: unknown,
  primaryKey: readonly KvKeyPart[],
  upgrade: (row: AnyRow) => AnyRow,
): AnyRow {
  const { model } = context;
  assertObject(model, value, primaryKey);
  let row: AnyRow;
  try {
    row = upgrade(value);
  } catch (error) {
    if (isUnfit(error)) throw error;
    throw new RowUpgradeError(model.name, pointerOf(primaryKey), failureReason(error), error);
  }
  assertRow(context, row, primaryKey);
  return row;
}

/** True if an error says that a row of another schema does not fit that of the program. */
function isUnfit(error: unknown): boolean {
  return error instanceof MigrationMissingError || error instanceof StaleSchemaError;
}

/** Checks that a value is a row. With `validateReads`, also validates it. */
export function assertRow(
  { model, settings }: RelatedStore,
  value: unknown,
  primaryKey: readonly KvKeyPart[],
): asserts value is AnyRow {
  if (settings.validateReads) assertStoredRow(model, value, primaryKey);
  assertObject(model, value, primaryKey);
}

function assertObject(
  model: CompiledModel,
  value: unknown,
  primaryKey: readonly KvKeyPart[],
): asserts value is AnyRow {
  if (isRow(value)) return;
  throw new StoredRowInvalidError(model.name, pointerOf(primaryKey));
}
