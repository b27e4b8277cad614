import type { KvEntryMaybe, KvKeyPart } from "@keywright/core";
import { StoredRowInvalidError } from "../errors/row-errors.js";
import { pointerOf } from "../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import { assertStoredRow } from "../model/stored-row.js";
import type { FoundRow } from "./any-query.js";
import type { TableContext } from "./table-context.js";

/**
 * The row that is stored under a key; undefined where nothing is.
 *
 * @throws {StoredRowInvalidError} where what is stored is no row, or does not fit the schema and the database was opened
 * with `validateReads`.
 */
export function foundRow(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  entry: KvEntryMaybe<unknown>,
): FoundRow | undefined {
  if (entry.versionstamp === null) return undefined;
  const { value, versionstamp, expireAt } = entry;
  assertRow(context, value, primaryKey);
  return { primaryKey, row: value, versionstamp, expireAt };
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
export function assertObject(
  model: CompiledModel,
  value: unknown,
  primaryKey: readonly KvKeyPart[],
): asserts value is AnyRow {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  const issue = { path: [], code: "invalid_type", message: "It is not an object." };
  throw new StoredRowInvalidError(model.name, pointerOf(primaryKey), [issue]);
}
