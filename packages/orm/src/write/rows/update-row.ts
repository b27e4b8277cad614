import type { KvKeyPart } from "@keywright/core";
import type { PlannedRow } from "../../derived/plan-row.js";
import { PrimaryKeyChangeError } from "../../errors/row-errors.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isSamePart, keyPartOf } from "../../model/keys/key-parts.js";
import { copyData, deepCopy } from "../../model/rows/copy-of-data.js";
import { whenReady } from "../../promises/when-ready.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { TableContext } from "../../state/context/table-context.js";
import { commitChange } from "../commit/commit-change.js";
import { withUpdateTime } from "../input/add-timestamps.js";
import { assertUnmarked } from "../input/assert-unmarked.js";
import { parsePatch } from "../input/parse-row.js";
import { callAfterHook, callBeforeHook, copyOwn } from "../input/row-hooks.js";
import { assertWriteOptions, expiryOf, type WriteOptions } from "../input/write-options.js";
import { type FindRow, findToWrite } from "./find-row.js";
import { writeWithHook } from "./write-with-hook.js";

/**
 * Changes fields of a row and returns the changed row. Without `expireIn`, its expiry time stays.
 *
 * @param where the condition to report in errors.
 * @param namedKey returns the primary key if the condition names it.
 * @param data the new values of fields, or operations on them (see `UpdateInput`).
 * @throws {RowNotFoundError} if the row does not exist.
 * @throws {RowInvalidError} if the schema rejects the changed row.
 * @throws {UniqueConstraintError} if another row has the same unique value.
 * @throws {ReferenceMissingError} if the row refers to a row that does not exist.
 * @throws {PrimaryKeyChangeError} if the data has another primary key.
 * @throws {VersionConflictError} if the versionstamp of the row differs from `ifVersion`.
 * @throws the error of a hook. If `afterUpdate` throws, the row is already changed.
 */
export async function updateRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  data: AnyRow,
  options: WriteOptions,
  namedKey?: () => readonly KvKeyPart[] | undefined,
): Promise<FoundRow> {
  const { model, catalog } = context;
  assertWriteOptions(model, options);
  const expiry = expiryOf(options);
  // The caller may change its object before the commit.
  const patch = copyData(model, data);
  if (expiry !== undefined) await catalog.recordFact("expires");
  const hooks = context.settings.hooks[context.model.name];
  let before: AnyRow = {};
  const change = async (within: TableContext, snapshot: CatalogSnapshot): Promise<PlannedRow> => {
    const found = await findToWrite(within, snapshot, find, where, options);
    const { primaryKey } = found;
    before = found.row;
    const changes =
      hooks?.beforeUpdate === undefined
        ? patch
        : await callBeforeHook(deepCopy(patch), (copy) =>
            hooks.beforeUpdate?.(copy, copyOwn(within, found.row)),
          );
    const changed = changedRow(model, before, changes);
    const row = changed instanceof Promise ? await changed : changed;
    return { primaryKey, before: found, row, expiry };
  };
  const write = (within: TableContext) =>
    commitChange(within, (snapshot, reads) => change(reads, snapshot), namedKey);
  const updated = await writeWithHook(context, "duringUpdate", write, ({ row }) => [row, before]);
  if (hooks?.afterUpdate !== undefined)
    await callAfterHook(context, "afterUpdate", updated.row, before);
  return updated;
}

/**
 * Returns a row with changes of its fields. Returns a promise only if the schema has asynchronous
 * parts.
 *
 * @throws {RowInvalidError} if the schema rejects the changed row, or if the data marks it as
 * deleted.
 * @throws {PrimaryKeyChangeError} if the data has another primary key.
 */
export function changedRow(
  model: CompiledModel,
  before: AnyRow,
  data: AnyRow,
): AnyRow | Promise<AnyRow> {
  const parsed = parsePatch(model, before, withUpdateTime(model, before, data));
  return whenReady(parsed, (row) => {
    assertSamePrimaryKey(model, before, row);
    assertUnmarked(model, row);
    return row;
  });
}

function assertSamePrimaryKey(model: CompiledModel, before: AnyRow, after: AnyRow): void {
  for (const field of model.primaryKey) {
    if (isSamePart(keyPartOf(before[field]), keyPartOf(after[field]))) continue;
    throw new PrimaryKeyChangeError(model.name, field);
  }
}
