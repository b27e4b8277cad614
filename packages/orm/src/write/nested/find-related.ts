import type { KvKeyPart } from "@keywright/core";
import { unexpired } from "../../derived/expiry/row-expiry.js";
import { ReferenceRequiredError, RowNotFoundError } from "../../errors/row-errors.js";
import { ScopeError } from "../../errors/scope-error.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import { findOne } from "../../read/find/find-unique.js";
import { readRelated } from "../../read/include/read-related.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf, withReadView } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { referenceGuardKey } from "../../state/references/guard-keys.js";
import { isReferenceTo } from "../../state/references/referenced-key.js";
import { clearedReference } from "../cascade/cleared-reference.js";
import { deleteRow } from "../cascade/delete-row.js";
import { updateRow } from "../rows/update-row.js";
import type { NestedOperation } from "./nested-operation.js";
import type { NestedWrites } from "./nested-writes.js";

/** Returns the row that a `where` identifies. Undefined if there is none. */
export async function findNamed(
  context: TableContext,
  where: AnyRow,
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  const found = await withReadView(context, [], (view) => findOne(view, where, meter));
  return await unexpired(viewOf(context), found);
}

/** @throws {RowNotFoundError} if there is no such row. */
export async function findExisting(
  { meter }: NestedWrites,
  context: TableContext,
  where: AnyRow,
): Promise<FoundRow> {
  const found = await findNamed(context, where, meter);
  if (found === undefined) throw new RowNotFoundError(context.model.name, where);
  return found;
}

/**
 * Reads rows together, so that reading each of them later takes no request. The later read throws
 * the errors.
 */
export async function readAhead(
  context: TableContext,
  operations: readonly NestedOperation[],
): Promise<void> {
  const meter = new ReadMeter(context.model.name, Number.POSITIVE_INFINITY);
  const named = operations.flatMap(({ where, list }) => [where, ...list.map((row) => row.where)]);
  const wheres = named.filter((where) => where !== undefined);
  if (wheres.length < 2) return;
  await Promise.allSettled(wheres.map((where) => findNamed(context, where, meter)));
}

/**
 * Refuses a write of a row outside of the scope. Such rows can be connected by a `belongsTo`, which
 * does not write them.
 *
 * @throws {ScopeError} if the model does not have the fields of the scope.
 */
export function assertWritable({ model, isOutside }: TableContext): void {
  if (!isOutside) return;
  const reason = `${model.name} is outside of the scope, so its rows can only be connected; write them through the database itself`;
  throw new ScopeError(model.name, "", reason);
}

/** Returns a `where` with the primary key of a row. */
export function keyOf({ primaryKey }: CompiledModel, row: AnyRow): AnyRow {
  return Object.fromEntries(primaryKey.map((field) => [field, row[field]]));
}

/** Returns the fields of a reference to a row, with the primary key of the row as their values. */
export function referenceTo(
  fields: readonly string[],
  { primaryKey }: CompiledModel,
  row: AnyRow,
): AnyRow {
  return Object.fromEntries(fields.map((field, i) => [field, row[primaryKey[i] ?? ""]]));
}

/** Returns an update that sets fields to values, even to values that look like operations. */
export function settingOf(values: AnyRow): AnyRow {
  return Object.fromEntries(Object.entries(values).map(([name, set]) => [name, { set }]));
}

/**
 * Returns all rows that refer to a row. Each new reference to the row changes its guard, which is
 * read too. If another writer adds a reference, the commit therefore fails, and the write is tried
 * again.
 */
export async function listReferrers(
  { meter }: NestedWrites,
  context: TableContext,
  row: FoundRow,
  target: TableContext,
  fields: readonly string[],
): Promise<readonly FoundRow[]> {
  await context.kv.get(referenceGuardKey(context.model, row.primaryKey));
  const values = [context.model.primaryKey.map((field) => row.row[field])];
  const queries = { query: {}, fields, values, take: undefined };
  const all = (found: readonly { readonly row: FoundRow }[]) => found.map((each) => each.row);
  const [rows = []] = await readRelated(viewOf(target), queries, all, meter);
  return rows;
}

/** Returns the change that empties a reference, undefined if the schema does not accept one. */
export function emptyReference(
  model: CompiledModel,
  fields: readonly string[],
): AnyRow | undefined {
  const change = clearedReference(model, fields);
  return Object.keys(change).length === 0 ? undefined : change;
}

/**
 * Empties the reference of a row.
 *
 * @param referenced the primary key of the row that it refers to.
 * @throws {ReferenceRequiredError} if the schema or a hook does not let it be empty.
 */
export async function disconnectRow(
  { meter }: NestedWrites,
  context: TableContext,
  row: FoundRow,
  fields: readonly string[],
  referenced: readonly KvKeyPart[],
): Promise<void> {
  const { model } = context;
  assertWritable(context);
  const refused = () => new ReferenceRequiredError(model.name, fields, pointerOf(row.primaryKey));
  const change = emptyReference(model, fields);
  if (change === undefined) throw refused();
  const where = keyOf(model, row.row);
  const find = () => findNamed(context, where, meter);
  const updated = await updateRow(context, find, where, change, {});
  if (isReferenceTo(fields, updated.row, referenced)) throw refused();
}

/** Deletes a row by the rules of its relations. */
export async function removeRow(
  { meter }: NestedWrites,
  context: TableContext,
  { row, primaryKey }: FoundRow,
): Promise<void> {
  assertWritable(context);
  const where = keyOf(context.model, row);
  const find = () => findNamed(context, where, meter);
  await deleteRow(context, find, where, {}, meter, primaryKey);
}
