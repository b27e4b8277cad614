import { type KvKeyPart, monotonicUlid } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import type { FoundRow } from "../../context/any-query.js";
import { copyOfData } from "../../context/copy-of-data.js";
import type { TableContext } from "../../context/table-context.js";
import { primaryKeyOf, rowKey } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { commitChange } from "../commit/commit-change.js";
import { planChange } from "../commit/plan-change.js";
import { hasExpired, keepsExpiry } from "../commit/row-expiry.js";
import { parseRow } from "../input/parse-row.js";
import { afterWrite, copyOfRow, hookedData, hooksOf } from "../input/row-hooks.js";
import { expireInOf, type WriteOptions } from "../input/write-options.js";

/**
 * The row that `create` makes of what it was given: what the hook before it returned, with an id, parsed. A promise only
 * where there is a hook, or the schema has asynchronous parts.
 *
 * @throws {RowInvalidError} where the schema refuses the data.
 */
export function newRow(context: TableContext, data: unknown): AnyRow | Promise<AnyRow> {
  const { model } = context;
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    return parseRow(model, data);
  }
  const own = copyOfData(model, data);
  const beforeCreate = hooksOf(context)?.beforeCreate;
  if (beforeCreate === undefined) return parseRow(model, withId(model, own));
  return hookedData(own, beforeCreate).then((hooked) =>
    parseRow(model, withId(model, copyOfData(model, hooked))),
  );
}

/**
 * Stores a new row, whose fields are parsed already. It calls no hook: what it throws is of this row.
 *
 * @throws {UniqueConstraintError} where another row has its primary key or a unique value.
 */
export async function insertRow(
  context: TableContext,
  row: AnyRow,
  options: WriteOptions,
): Promise<FoundRow> {
  const { model, catalog } = context;
  const expireIn = expireInOf(options);
  const primaryKey = primaryKeyOf(model, row);
  if (expireIn !== undefined) await catalog.note("expires");
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

/** The row in whose place a new one comes: one whose time is over, and that the database has not cleared up yet. */
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

/** Calls the hook that comes after a row is stored; undefined where there is none. */
export function afterInsert(context: TableContext, { row }: FoundRow): Promise<void> | undefined {
  const hooks = hooksOf(context);
  if (hooks?.afterCreate === undefined) return undefined;
  const copy = copyOfRow(row);
  return afterWrite(context, () => hooks.afterCreate?.(copy));
}

/** With an id where the model generates one and none is there. */
function withId(model: CompiledModel, data: AnyRow): AnyRow {
  const [field] = model.primaryKey;
  if (!model.generatesId || field === undefined) return data;
  // Objects have properties from their prototype, such as `constructor`.
  if (Object.hasOwn(data, field) && data[field] !== undefined) return data;
  const id = monotonicUlid();
  // The id comes first, as in the schema: what is written has one shape then, which is much quicker to go through.
  const withField: Record<string, unknown> = { [field]: id, ...data };
  withField[field] = id;
  return withField;
}
