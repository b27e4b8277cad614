import type { MaybePromise } from "@keywright/core";
import { ComputedFieldError } from "../../../errors/computed-field-error.js";
import type { AnyRow, CompiledModel } from "../../../model/compiled-model.js";
import { selectedFields } from "../../../model/keys/entry-value.js";
import { ignoreRejection, isPromise } from "../../../model/keys/is-promise.js";
import { copyStored } from "../../../model/rows/copy-of-data.js";
import { ownFields } from "../../../model/rows/own-fields.js";
import { awaitAll } from "../../../promises/await-all.js";
import type { AnyQuery } from "../../../state/context/any-query.js";
import type { RelatedModel } from "../../../state/context/table-context.js";
import { functionFields } from "../../../state/schema/functions/function-fields.js";

type TableHooks = Pick<RelatedModel, "model" | "settings">;
type Returned = Pick<AnyQuery, "select" | "returned">;

/**
 * Returns a stored row as the caller gets it. First the fields that the model does not have are
 * left out, then the `afterRead` hook changes it, then the computed fields are added, and then the
 * fields of `select` are taken. If nothing of this changes the row, it is the row itself.
 *
 * @throws {ComputedFieldError} if the function of a computed field fails.
 * @throws the error of the hook.
 */
export function resultRow(
  view: TableHooks,
  row: AnyRow,
  query: Returned = {},
): MaybePromise<AnyRow> {
  return resultOf(view, row, selectedFields(query.returned ?? query.select));
}

/** Returns rows as {@link resultRow}, in the same order, without a promise if there is no hook. */
export function resultRows(
  view: TableHooks,
  rows: readonly AnyRow[],
  query: Returned,
): MaybePromise<readonly AnyRow[]> {
  const fields = selectedFields(query.returned ?? query.select);
  const results: MaybePromise<AnyRow>[] = [];
  for (const row of rows) results.push(resultOf(view, row, fields));
  return hookOf(view) === undefined ? (results as AnyRow[]) : awaitAll(results);
}

function resultOf(
  view: TableHooks,
  row: AnyRow,
  fields: readonly string[] | undefined,
): MaybePromise<AnyRow> {
  const { model } = view;
  const own = ownFields(model.schema, row);
  const afterRead = hookOf(view);
  if (afterRead === undefined) return withComputed(model, own, fields);
  return readBy(afterRead, own).then((changed) => withComputed(model, changed, fields));
}

function hookOf({ model, settings }: TableHooks): ((row: AnyRow) => unknown) | undefined {
  return settings.hooks[model.name]?.afterRead;
}

/**
 * Returns a query whose `select` names the fields to read, and whose `returned` names those to
 * return, if these differ: computed fields are returned, and the fields that their functions use
 * are read. If a function may use any field, or the model has an `afterRead` hook, the whole row is
 * read.
 */
export function withReads<Query extends AnyQuery>(view: TableHooks, query: Query): Query {
  const { select } = query;
  const { computed } = view.model;
  if (select === undefined) return query;
  const isWhole = view.settings.hooks[view.model.name]?.afterRead !== undefined;
  if (computed.size === 0 && !isWhole) return query;
  return {
    ...query,
    select: isWhole ? undefined : readFields(computed, select),
    returned: select,
  };
}

function readFields(
  computed: CompiledModel["computed"],
  select: NonNullable<AnyQuery["select"]>,
): AnyQuery["select"] {
  const fields: Record<string, true> = {};
  for (const name of Object.keys(select)) {
    if (!select[name]) continue;
    const compute = computed.get(name);
    const used = compute === undefined ? [name] : fieldsOf(compute);
    if (used === undefined) return undefined;
    for (const field of used) fields[field] = true;
  }
  return fields;
}

const knownFields = new WeakMap<object, ReadonlySet<string> | undefined>();

/** Returns the fields that a function uses, by its source. Undefined if these may be all. */
function fieldsOf(compute: (row: AnyRow) => unknown): ReadonlySet<string> | undefined {
  if (!knownFields.has(compute)) knownFields.set(compute, functionFields(compute));
  return knownFields.get(compute);
}

async function readBy(afterRead: (row: AnyRow) => unknown, row: AnyRow): Promise<AnyRow> {
  const copy = copyStored(row);
  return ((await afterRead(copy)) ?? copy) as AnyRow;
}

function withComputed(
  model: CompiledModel,
  row: AnyRow,
  fields: readonly string[] | undefined,
): AnyRow {
  const { computed } = model;
  if (computed.size === 0) return fields === undefined ? row : selectFields(row, fields);
  const all: Record<string, unknown> = { ...row };
  for (const [name, compute] of computed) {
    // A stored field of the same name, of an earlier schema, is not returned either.
    if (fields !== undefined && !fields.includes(name)) delete all[name];
    else all[name] = computedValue(model, name, compute, row);
  }
  return fields === undefined ? all : selectFields(all, fields);
}

function computedValue(
  { name: model }: CompiledModel,
  field: string,
  compute: (row: AnyRow) => unknown,
  row: AnyRow,
): unknown {
  let value: unknown;
  try {
    value = compute(row);
  } catch (cause) {
    throw new ComputedFieldError(model, field, "threw an error, which is the cause", cause);
  }
  if (typeof value === "function" || typeof value === "symbol") {
    throw new ComputedFieldError(model, field, `returned a ${typeof value}`);
  }
  if (typeof value !== "object" || value === null || !isPromise(value)) return value;
  ignoreRejection(value);
  throw new ComputedFieldError(model, field, "returned a promise");
}

function selectFields(row: AnyRow, fields: readonly string[]): AnyRow {
  if (hasOnly(row, fields)) return row;
  const selected: Record<string, unknown> = {};
  for (const field of fields) if (Object.hasOwn(row, field)) selected[field] = row[field];
  return selected;
}

/** True if a row has these fields in this order and no others. That of a covering entry has. */
function hasOnly(row: AnyRow, fields: readonly string[]): boolean {
  let count = 0;
  for (const field in row) if (field !== fields[count++]) return false;
  return count === fields.length;
}
