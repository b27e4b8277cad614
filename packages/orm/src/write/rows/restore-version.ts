import type { KvKeyPart } from "@keywright/core";
import type { PlannedRow } from "../../derived/plan-row.js";
import {
  RowVersionNotFoundError,
  UniqueConstraintError,
  VersionConflictError,
} from "../../errors/row-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { pointerOf, rowKey } from "../../model/keys/primary-key.js";
import { ownFields } from "../../model/rows/own-fields.js";
import { assertStoredRow, isRow } from "../../model/rows/stored-row.js";
import { findByPrimaryKey } from "../../read/find/find-unique.js";
import { logOf } from "../../read/history/commit-log.js";
import { LoggedRows } from "../../read/history/logged-rows.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf } from "../../state/context/read-view.js";
import { isInScope } from "../../state/context/scope.js";
import type { TableContext } from "../../state/context/table-context.js";
import { commitChange } from "../commit/commit-change.js";
import { withUpdateTime } from "../input/add-timestamps.js";
import { assertUnmarked } from "../input/assert-unmarked.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";

const maxAttempts = 100;

/**
 * Writes a version of a row that the log has as its newest one, and returns the row. If the row was
 * deleted, it is created again. Its unique values and its references are checked like those of a
 * new row. No hook is called.
 *
 * @param context also reads rows that are marked as deleted.
 * @param versionstamp that of the commit that has made the version.
 * @throws {RowVersionNotFoundError} if the log has no such version.
 * @throws {StoredRowInvalidError} if the version does not fit the schema.
 * @throws {RowInvalidError} if the version is marked as deleted.
 * @throws {VersionConflictError} if the versionstamp of the row differs from `ifVersion`.
 * @throws the errors of `create`.
 */
export async function restoreVersion(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  versionstamp: string,
  options: WriteOptions,
  meter: ReadMeter,
): Promise<FoundRow> {
  const { model } = context;
  assertWriteOptions(model, options);
  const row = await versionOf(context, primaryKey, versionstamp);
  assertStoredRow(model, row, primaryKey);
  assertUnmarked(model, row);
  const change = async (snapshot: CatalogSnapshot): Promise<PlannedRow> => {
    const view = viewOf(context, snapshot);
    const before = (await findByPrimaryKey(view, primaryKey, meter, true)) ?? null;
    const { ifVersion } = options;
    if (ifVersion !== undefined && ifVersion !== before?.versionstamp)
      throw new VersionConflictError(model.name, pointerOf(primaryKey), "ifVersion");
    const timed = withUpdateTime(model, row, { ...row, updatedAt: undefined });
    const restored = model.timestamps === undefined ? row : timed;
    const renewed = { renewsReferences: true, renewsCopies: true };
    return { primaryKey, before, row: restored, ...renewed };
  };
  for (let attempt = 1; ; attempt++) {
    try {
      return await commitChange(context, change);
    } catch (error) {
      const isTaken = error instanceof UniqueConstraintError && error.index === "primaryKey";
      if (!isTaken || attempt === maxAttempts) throw error;
      // Others may have created the row again. One outside of the scope is never found.
      if (await isOutsideOfScope(context, primaryKey)) throw error;
    }
  }
}

async function isOutsideOfScope(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
): Promise<boolean> {
  const { value } = await context.kv.get(rowKey(context.model, primaryKey));
  return isRow(value) && !isInScope(context, value);
}

async function versionOf(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  versionstamp: string,
): Promise<AnyRow> {
  const { model } = context;
  const log = logOf(context);
  const commit = await log.commitAt(versionstamp, { key: rowKey(model, primaryKey) });
  const isKnown = commit !== undefined || (await log.commitAt(versionstamp)) !== undefined;
  if (!isKnown) throw new RowVersionNotFoundError(model.name, versionstamp, "notLogged");
  const stored = commit?.changes.at(-1)?.after ?? null;
  const found = await new LoggedRows(context, log).rowOf(primaryKey, stored);
  if (found === undefined) throw new RowVersionNotFoundError(model.name, versionstamp, "otherRow");
  return ownFields(model.schema, found.row);
}
