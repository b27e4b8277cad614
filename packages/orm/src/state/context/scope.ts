import { ScopeError } from "../../errors/scope-error.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { isSamePart, keyPartOf } from "../../model/keys/key-parts.js";

/** The values of fields that every row of a scope has. */
export type Scope = Readonly<Record<string, unknown>>;

interface Scoped {
  readonly model: Pick<CompiledModel, "name">;
  readonly scope?: Scope | undefined;
}

/** True if a row has the values of the scope, or if there is none. */
export function isInScope({ scope }: Scoped, row: AnyRow): boolean {
  for (const field in scope) {
    if (!isSameValue(row[field], scope[field])) return false;
  }
  return true;
}

/** True if each of the values of some fields is that of the scope, if the scope has the field. */
export function areInScope(
  { scope = {} }: Scoped,
  fields: readonly string[],
  values: readonly (readonly unknown[])[],
): boolean {
  return fields.every((field, i) => {
    if (!Object.hasOwn(scope, field)) return true;
    return values.every((own) => isSameValue(own[i], scope[field]));
  });
}

function isSameValue(a: unknown, b: unknown): boolean {
  const part = keyPartOf(a);
  return part !== undefined && isSamePart(part, keyPartOf(b));
}

/** @throws {ScopeError} if a row that is written does not have the values of the scope. */
export function assertInScope({ model, scope }: Scoped, row: AnyRow): void {
  for (const field in scope) {
    if (isSameValue(row[field], scope[field])) continue;
    const reason = "a write within a scope cannot give it another value; leave it out";
    throw new ScopeError(model.name, `data.${field}`, reason);
  }
}

/**
 * Returns the data of a new row with the values of the scope.
 *
 * @throws {ScopeError} if the data has another value.
 */
export function withScopeValues(context: Scoped, data: AnyRow): AnyRow {
  const { scope } = context;
  if (scope === undefined) return data;
  const filled: Record<string, unknown> = { ...data };
  for (const field of Object.keys(scope)) {
    if (!Object.hasOwn(filled, field) || filled[field] === undefined) filled[field] = scope[field];
  }
  assertInScope(context, filled);
  return filled;
}

/**
 * Returns a query with the values of the scope as conditions. An index serves these conditions only
 * if its key has their fields, so that a query reads only the entries of the scope.
 *
 * @throws {ScopeError} if the query has another condition on one of these fields.
 */
export function scopedQuery<Query extends { readonly where?: AnyRow | undefined }>(
  context: Scoped,
  query: Query,
): Query {
  const { scope } = context;
  if (scope === undefined) return query;
  const { where = {} } = query;
  // The planner refuses a `where` that is no object.
  if (!isPlainObject(where)) return query;
  assertWithin(context, where);
  const { OR } = where as { readonly OR?: unknown };
  if (Array.isArray(OR)) {
    for (const member of OR) if (isPlainObject(member)) assertWithin(context, member);
  }
  // The scope comes first, also in an index that is suggested.
  return { ...query, where: { ...scope, ...where, ...scope } };
}

function assertWithin({ model, scope }: Scoped, where: AnyRow): void {
  for (const field in scope) {
    const condition = Object.hasOwn(where, field) ? where[field] : undefined;
    if (condition === undefined || isSameValue(condition, scope[field])) continue;
    const reason = "a query within a scope cannot have another condition on it; leave it out";
    throw new ScopeError(model.name, `where.${field}`, reason);
  }
}

/**
 * Returns the values that identify a row, completed with the values of the scope that are part of
 * the same key: the primary key or that of a unique index.
 *
 * @throws {ScopeError} if it has another value of the scope.
 */
export function scopedUnique(
  context: Scoped & { readonly model: CompiledModel },
  where: AnyRow,
): AnyRow {
  const { scope, model } = context;
  if (scope === undefined) return where;
  assertWithin(context, where);
  const fields = new Set([...Object.keys(where), ...Object.keys(scope)]);
  const { primaryKey } = model;
  const isByKey = primaryKey.every((field) => fields.has(field));
  const others = Object.keys(where).filter(
    (field) => !primaryKey.includes(field) && !Object.hasOwn(scope, field),
  );
  if (!isByKey || others.length > 0) return { ...where, ...scope };
  const all: AnyRow = { ...where, ...scope };
  return Object.fromEntries(primaryKey.map((field) => [field, all[field]]));
}

const scopedModels = new WeakMap<CompiledModel, Map<string, CompiledModel>>();

/** Returns a model with only those indexes whose keys have fields of a scope. */
export function scopedModel(model: CompiledModel, fields: readonly string[]): CompiledModel {
  const id = JSON.stringify(fields);
  let byFields = scopedModels.get(model);
  if (byFields === undefined) {
    byFields = new Map();
    scopedModels.set(model, byFields);
  }
  let scoped = byFields.get(id);
  if (scoped === undefined) {
    scoped = { ...model, indexes: model.indexes.filter((index) => isScopedBy(index, fields)) };
    byFields.set(id, scoped);
  }
  return scoped;
}

/** True if the key of an index has all of these fields as they are stored. */
export function isScopedBy({ parts, each }: CompiledIndex, fields: readonly string[]): boolean {
  return fields.every((name) =>
    parts.some(
      ({ field, compute, normalize }, position) =>
        field === name && compute === undefined && normalize === undefined && position !== each,
    ),
  );
}
