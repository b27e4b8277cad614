import { type KvKeyPart, monotonicUlid } from "@keywright/core";
import { hasExpired, keepsExpiry } from "../../derived/expiry/row-expiry.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { primaryKeyOf, rowKey } from "../../model/keys/primary-key.js";
import { copyData } from "../../model/rows/copy-of-data.js";
import { whenReady } from "../../promises/when-ready.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { viewOf } from "../../state/context/read-view.js";
import { withScopeValues } from "../../state/context/scope.js";
import type { TableContext } from "../../state/context/table-context.js";
import { commitChange } from "../commit/commit-change.js";
import { withCreationTime } from "../input/add-timestamps.js";
import { assertUnmarked } from "../input/assert-unmarked.js";
import { parseNewRow, parseRow } from "../input/parse-row.js";
import { callAfterHook, callBeforeHook } from "../input/row-hooks.js";
import { assertWriteOptions, expiryOf, type WriteOptions } from "../input/write-options.js";
import { writeWithHook } from "./write-with-hook.js";

/**
 * Creates a row and returns it.
 *
 * @throws {RowInvalidError} if the schema rejects the data.
 * @throws {UniqueConstraintError} if another row has the same primary key or unique value.
 * @throws {ReferenceMissingError} if the row refers to a row that does not exist.
 * @throws the error of a hook. If `afterCreate` throws, the row is already written.
 */
export async function createRow(
  context: TableContext,
  data: unknown,
  options: WriteOptions,
): Promise<FoundRow> {
  assertWriteOptions(context.model, options);
  return await insertNewRow(context, await newRow(context, data), options);
}

/** Stores a new row that has been parsed, and calls `duringCreate` and `afterCreate`. */
export function insertNewRow(
  context: TableContext,
  row: AnyRow,
  options: WriteOptions,
): Promise<FoundRow> {
  const writing = writeNewRow(context, row, options);
  const hooks = context.settings.hooks[context.model.name];
  if (hooks?.afterCreate === undefined) return writing;
  return writing.then((created) =>
    callAfterHook(context, "afterCreate", created.row).then(() => created),
  );
}

/**
 * Calls `beforeCreate`, adds a generated id, and returns the parsed row. Returns a promise only if
 * there is a hook, or if the schema has asynchronous parts.
 */
export function newRow(context: TableContext, data: unknown): AnyRow | Promise<AnyRow> {
  const { model, settings } = context;
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    return parseRow(model, data);
  }
  const input = copyData(model, data);
  const beforeCreate = settings.hooks[model.name]?.beforeCreate;
  if (beforeCreate === undefined) return parsedRow(context, input);
  return callBeforeHook(input, beforeCreate).then((changed) =>
    parsedRow(context, copyData(model, changed)),
  );
}

function parsedRow(context: TableContext, data: AnyRow): AnyRow | Promise<AnyRow> {
  const { model, scope } = context;
  let input = data;
  if (scope !== undefined) input = withScopeValues(context, input);
  if (model.generatesId) input = withId(model, input);
  if (model.timestamps !== undefined) input = withCreationTime(model, input);
  const parsing = parseNewRow(model, input);
  if (model.softDelete === undefined) return parsing;
  return whenReady(parsing, (row) => {
    assertUnmarked(model, row);
    return row;
  });
}

/** Stores a new row that has been parsed, and calls `duringCreate` in the same commit. */
export function writeNewRow(
  context: TableContext,
  row: AnyRow,
  options: WriteOptions,
): Promise<FoundRow> {
  const hooks = context.settings.hooks[context.model.name];
  if (hooks?.duringCreate === undefined) return insertRow(context, row, options);
  const write = (within: TableContext) => insertRow(within, row, options);
  return writeWithHook(context, "duringCreate", write, (created) => [created.row]);
}

/**
 * Stores a new row that has been parsed. It calls no hooks, so its errors always concern this row.
 *
 * @throws {UniqueConstraintError} if another row has the same primary key or unique value.
 */
function insertRow(context: TableContext, row: AnyRow, options: WriteOptions): Promise<FoundRow> {
  const { model, catalog } = context;
  const expiry = options.expireIn === undefined ? undefined : expiryOf(options);
  const primaryKey = primaryKeyOf(model, row);
  let isFirst = true;
  const insert = () =>
    commitChange(context, (snapshot) => {
      if (isFirst || !keepsExpiry(viewOf(context, snapshot))) {
        isFirst = false;
        return { primaryKey, before: null, row, expiry };
      }
      return expiredRow(context, snapshot, primaryKey).then((before) => {
        return { primaryKey, before, isNew: true, row, expiry };
      });
    });
  return expiry === undefined ? insert() : catalog.recordFact("expires").then(insert);
}

/** Returns the row that a new one replaces: expired, but not removed by the database yet. */
async function expiredRow(
  context: TableContext,
  catalog: CatalogSnapshot,
  primaryKey: readonly KvKeyPart[],
): Promise<FoundRow | null> {
  const { model, kv } = context;
  const { value, versionstamp } = await kv.get<AnyRow>(rowKey(model, primaryKey));
  if (versionstamp === null || !(await hasExpired(viewOf(context, catalog), primaryKey)))
    return null;
  return { primaryKey, row: value, versionstamp };
}

/** Adds an id if the data of a model that generates ids has none. */
function withId(model: CompiledModel, data: AnyRow): AnyRow {
  const [field] = model.primaryKey;
  if (field === undefined) return data;
  // Objects inherit properties such as `constructor`, which are not fields.
  if (Object.hasOwn(data, field) && data[field] !== undefined) return data;
  const id = monotonicUlid();
  // With the id first, as in the schema, all written objects have the same shape. Objects of one
  // shape are much faster to process.
  const withField: Record<string, unknown> = { [field]: id, ...data };
  withField[field] = id;
  return withField;
}
