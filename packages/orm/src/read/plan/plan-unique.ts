import type { KvKeyPart } from "@keywright/core";
import { InvalidQueryError } from "../../errors/query-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { keyPartOf } from "../../model/keys/key-parts.js";
import { leavesOutMore } from "../../model/options/soft-delete.js";
import { namedIndexes } from "../../state/schema/named-index.js";
import { assertKind, assertWellFormed } from "./fields/queried-value.js";
import { assertField, parseQuery } from "./fields/query-fields.js";
import { existingKeys } from "./plan-query.js";
import { partialUniqueRow, unindexedRow } from "./suggest/unindexed-error.js";

/** A key that identifies one row: the primary key, or a unique index. */
export type UniqueKey = "primaryKey" | CompiledIndex;

interface UniqueKeys {
  readonly byField: ReadonlyMap<string, readonly UniqueKey[]>;
  readonly all: readonly { readonly key: UniqueKey; readonly fields: readonly string[] }[];
}

const keysOfModels = new WeakMap<CompiledModel, UniqueKeys>();

/**
 * Returns the unique keys that have exactly the fields of a `where`. The primary key comes first.
 *
 * @param indexName the name of the only index to use, which may be partial or of elements.
 * @throws {UnindexedQueryError} if there is no such key, or only one of a partial index.
 * @throws {UnknownIndexError} if there is no unique index with the name.
 * @throws {InvalidQueryError} if `where` names no field or not those of the named index, or if
 * there is no such key and a field does not have one value that a key can hold.
 */
export function planUnique(
  model: CompiledModel,
  where: AnyRow,
  indexName?: string,
): readonly UniqueKey[] {
  const fields = Object.keys(where);
  if (indexName !== undefined) {
    const indexes = namedIndexes(model, indexName, true);
    const serving = indexes.filter((index) => hasFields(index.fields, fields));
    if (serving.length > 0) return serving;
    const reason = `the index ${indexName} has the fields ${indexes[0]?.fields.join(", ")}`;
    throw new InvalidQueryError(model.name, "where", reason);
  }
  const keys = uniqueKeysOf(model);
  const found =
    fields.length === 1
      ? keys.byField.get(fields[0]!)
      : keys.all.filter((key) => hasFields(key.fields, fields)).map(({ key }) => key);
  if (found?.length === 1) return found;
  if (found !== undefined && found.length > 0)
    return found.filter((key) => findsSame(key, found[0]));
  if (fields.length === 0)
    throw new InvalidQueryError(model.name, "where", "it must name the fields of a unique key");
  const partial = model.indexes.find((index) => isPartialKey(index, fields));
  if (partial !== undefined) throw partialUniqueRow(model, partial, fields);
  for (const field of fields) {
    assertField(model, field);
    uniquePart(model, field, valueOfEquals(where[field]));
  }
  const [query] = parseQuery(model, { where });
  throw unindexedRow(model, query, (queried) => existingKeys(model, queried));
}

/**
 * Returns the primary key that a `where` has values for.
 *
 * @throws {InvalidQueryError} if a field does not have one value that its rows can have.
 */
export function primaryKeyIn(model: CompiledModel, where: AnyRow): KvKeyPart[] {
  const fields = model.primaryKey;
  const parts: KvKeyPart[] = [];
  for (const field of fields)
    parts.push(uniquePart(model, field, valueOfEquals(where[field]), true));
  return parts;
}

/**
 * Returns the values that a `where` has for the parts of a unique index.
 *
 * @throws {InvalidQueryError} if a field does not have one value that its rows can have.
 */
export function uniqueValues(
  model: CompiledModel,
  { parts }: CompiledIndex,
  where: AnyRow,
): unknown[] {
  const values: unknown[] = [];
  for (const { field, compute, normalize } of parts) {
    const value = valueOfEquals(where[field]);
    uniquePart(model, field, value, normalize === undefined && compute === undefined);
    values.push(value);
  }
  return values;
}

/**
 * Returns the key part for a value of a field of a unique key: see {@link valueOfEquals}.
 *
 * @param assertsKind true to refuse a value of another kind than the field's values.
 * @throws {InvalidQueryError} if it is not one value that a key can hold.
 */
export function uniquePart(
  model: CompiledModel,
  field: string,
  value: unknown,
  assertsKind = false,
): KvKeyPart {
  const part = keyPartOf(value);
  if (part !== undefined) {
    assertWellFormed(model, field, part);
    if (assertsKind) assertKind(model, field, value);
    return part;
  }
  const reason =
    value === undefined || value === null
      ? `it is ${value}; give a value for each field of the key`
      : "it must be a single value that a key can hold; for conditions use findFirst";
  throw new InvalidQueryError(model.name, field, reason);
}

/** Returns the value of a condition `{ equals: value }`, and any other condition as it is. */
function valueOfEquals(condition: unknown): unknown {
  if (typeof condition !== "object" || !isPlainObject(condition)) return condition;
  const isEquals = Object.hasOwn(condition, "equals") && Object.keys(condition).length === 1;
  return isEquals ? condition.equals : condition;
}

/** True if two keys compare each field with the same values of the rows. */
function findsSame(a: UniqueKey, b: UniqueKey | undefined): boolean {
  if (a === b || a === "primaryKey" || b === undefined || b === "primaryKey") return true;
  return a.parts.every(({ field, normalize }) => {
    return b.parts.some((part) => part.field === field && part.normalize === normalize);
  });
}

function uniqueKeysOf(model: CompiledModel): UniqueKeys {
  let keys = keysOfModels.get(model);
  if (keys !== undefined) return keys;
  const indexes = model.indexes.filter(
    (index) =>
      index.unique &&
      index.where === undefined &&
      index.each === undefined &&
      !leavesOutMore(model, index),
  );
  const all: { key: UniqueKey; fields: readonly string[] }[] = [
    { key: "primaryKey", fields: model.primaryKey },
    ...indexes.map((index) => ({ key: index, fields: index.fields })),
  ];
  const byField = new Map<string, UniqueKey[]>();
  for (const { key, fields } of all) {
    const [field] = fields;
    if (fields.length !== 1 || field === undefined) continue;
    byField.set(field, [...(byField.get(field) ?? []), key]);
  }
  keys = { byField, all };
  keysOfModels.set(model, keys);
  return keys;
}

/** True for a unique index of some rows that has these fields, but for those of its `where`. */
function isPartialKey(
  { unique, where, condition = {}, each, fields: key }: CompiledIndex,
  fields: readonly string[],
): boolean {
  const isPartial = unique && where !== undefined && each === undefined;
  const others = fields.filter((field) => !key.includes(field));
  return (
    isPartial &&
    others.every((field) => Object.hasOwn(condition, field)) &&
    key.length === fields.length - others.length
  );
}

function hasFields(key: readonly string[], fields: readonly string[]): boolean {
  return key.length === fields.length && key.every((field) => fields.includes(field));
}
