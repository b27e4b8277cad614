import type { KvEntryMaybe, KvKeyPart } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { messageOf } from "../../errors/message-of.js";
import { RowUpgradeError } from "../../errors/migration-errors.js";
import { StoredRowInvalidError } from "../../errors/row-errors.js";
import { pointerOf } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { assertStoredRow } from "../../model/stored-row.js";

/**
 * The row that is stored under a key; undefined where nothing is.
 *
 * @param orAsStored takes a row as it is where it cannot be made one of the program's, and what is no row as one of its key alone.
 * @throws {StoredRowInvalidError} where what is stored is no row, or does not fit the schema and the database was opened
 * with `validateReads`.
 * @throws {RowUpgradeError} where it is of an earlier schema and cannot be made one of the program's.
 */
export function foundRow(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  entry: KvEntryMaybe<unknown>,
  orAsStored = false,
): FoundRow | undefined {
  if (entry.versionstamp === null) return undefined;
  const { value, versionstamp, expireAt } = entry;
  if (orAsStored && !isObject(value)) {
    const keyFields = context.model.primaryKey.map((field, i) => [field, primaryKey[i]] as const);
    // It has no entries, and no other fields.
    return {
      primaryKey,
      row: Object.fromEntries(keyFields),
      stored: {},
      versionstamp,
      expireAt,
    };
  }
  const upgrade = context.catalog.snapshot.upgradeOf(versionstamp);
  if (upgrade === undefined) {
    assertRow(context, value, primaryKey);
    return { primaryKey, row: value, versionstamp, expireAt };
  }
  const stored = value as AnyRow;
  let row = stored;
  try {
    row = upgradedRow(context, value, primaryKey, upgrade);
  } catch (error) {
    if (!orAsStored || !(error instanceof RowUpgradeError)) throw error;
  }
  return { primaryKey, row, stored, versionstamp, expireAt };
}

/**
 * Makes a row of an earlier schema one of the program's.
 *
 * @throws {RowUpgradeError} where that fails.
 * @throws {StoredRowInvalidError} as {@link foundRow}.
 */
function upgradedRow(
  context: TableContext,
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
    throw new RowUpgradeError(model.name, pointerOf(primaryKey), messageOf(error), error);
  }
  assertRow(context, row, primaryKey);
  return row;
}

/**
 * Looks at a row as it is stored.
 *
 * @throws {StoredRowInvalidError} as {@link foundRow}.
 */
export function assertRow(
  { model, settings }: TableContext,
  value: unknown,
  primaryKey: readonly KvKeyPart[],
): asserts value is AnyRow {
  if (settings.validateReads) assertStoredRow(model, value, primaryKey);
  assertObject(model, value, primaryKey);
}

/**
 * Looks at a row as it is stored, and no further than whether it is one, whatever its schema says.
 *
 * @throws {StoredRowInvalidError} where it is no object.
 */
function assertObject(
  model: CompiledModel,
  value: unknown,
  primaryKey: readonly KvKeyPart[],
): asserts value is AnyRow {
  if (isObject(value)) return;
  const issue = { path: [], code: "invalid_type", message: "It is not an object." };
  throw new StoredRowInvalidError(model.name, pointerOf(primaryKey), [issue]);
}

function isObject(value: unknown): value is AnyRow {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
