import { type KvKeyPart, monotonicUlid } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import type { FoundRow } from "../../context/any-query.js";
import { copyData } from "../../context/copy-of-data.js";
import type { TableContext } from "../../context/table-context.js";
import { primaryKeyOf, rowKey } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { commitChange } from "../commit/commit-change.js";
import { planChange } from "../commit/plan-change.js";
import { hasExpired, keepsExpiry } from "../commit/row-expiry.js";
import { parseRow } from "../input/parse-row.js";
import { afterWrite, callBeforeHook, copyOfRow, hooksOf } from "../input/row-hooks.js";
import { expireInOf, type WriteOptions } from "../input/write-options.js";

/**
 * Returns the row to create from the input of `create`: calls `beforeCreate`, adds a generated id
 * and parses the result. Returns a promise only if there is a hook or the schema has asynchronous
 * parts.
 *
 * @throws {RowInvalidError} if the schema rejects the data.
 */
export function newRow(context: TableContext, data: unknown): AnyRow | Promise<AnyRow> {
  const { model } = context;
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    return parseRow(model, data);
  }
  const copy = copyData(model, data);
  const beforeCreate = hooksOf(context)?.beforeCreate;
  if (beforeCreate === undefined) return parseRow(model, withId(model, copy));
  return callBeforeHook(copy, beforeCreate).then((hooked) =>
    parseRow(model, withId(model, copyData(model, hooked))),
  );
}

/**
 * Stores a new row that has been parsed. It calls no hooks, so its errors always concern this row.
 *
 * @throws {UniqueConstraintError} if another row has the same primary key or unique value.
 */
export async function insertRow(
  context: TableContext,
  row: AnyRow,
  options: WriteOptions,
): Promise<FoundRow> {
  const { model, catalog } = context;
  const expireIn = expireInOf(options);
  const primaryKey = primaryKeyOf(model, row);
  if (expireIn !== undefined) await catalog.recordFact("expires");
  let isFirst = true;
  const { versionstamp } = await commitChange(context, (snapshot) => {
    if (isFirst || !keepsExpiry(context, snapshot)) {
      isFirst = false;
      return planChange(context, snapshot, { primaryKey, before: null, row, expireIn });
    }
    return expiredRow(context, snapshot, primaryKey).then((before) =>
      planChange(context, snapshot, { primaryKey, before, isNew: true, row, expireIn }),
    );
  });
  return { row, primaryKey, versionstamp };
}

/** Returns the expired row that a new one replaces, if the database has not removed it yet. */
async function expiredRow(
  context: TableContext,
  catalog: CatalogSnapshot,
  primaryKey: readonly KvKeyPart[],
): Promise<FoundRow | null> {
  const { model, kv } = context;
  const { value, versionstamp } = await kv.get<AnyRow>(rowKey(model, primaryKey));
  if (versionstamp === null || !(await hasExpired(context, catalog, primaryKey))) return null;
  return { primaryKey, row: value, versionstamp };
}

/** Calls the `afterCreate` hook of a new row. Returns undefined if there is none. */
export function afterInsert(context: TableContext, { row }: FoundRow): Promise<void> | undefined {
  const hooks = hooksOf(context);
  if (hooks?.afterCreate === undefined) return undefined;
  const copy = copyOfRow(row);
  return afterWrite(context, () => hooks.afterCreate?.(copy));
}

/** Adds an id if the model generates ids and the data has none. */
function withId(model: CompiledModel, data: AnyRow): AnyRow {
  const [field] = model.primaryKey;
  if (!model.generatesId || field === undefined) return data;
  // Objects inherit properties such as `constructor`, which are not fields.
  if (Object.hasOwn(data, field) && data[field] !== undefined) return data;
  const id = monotonicUlid();
  // With the id first, as in the schema, all written objects have the same shape. Objects of one
  // shape are much faster to process.
  const withField: Record<string, unknown> = { [field]: id, ...data };
  withField[field] = id;
  return withField;
}
