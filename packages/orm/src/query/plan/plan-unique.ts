import type { KvKeyPart } from "@keywright/core";
import { InvalidQueryError } from "../../errors/query-errors.js";
import { keyPartOf } from "../../indexes/key-parts.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { existingKeys } from "./plan-query.js";
import { assertWellFormed } from "./queried-part.js";
import { assertField, parseQueryFields } from "./query-fields.js";
import { unindexedRow } from "./unindexed-error.js";
import { assertKind } from "./value-kinds.js";

/** A key that identifies one row: the primary key, or a unique index. */
export type UniqueKey = "primaryKey" | CompiledIndex;

interface UniqueKeys {
  readonly byField: ReadonlyMap<string, readonly UniqueKey[]>;
  readonly all: readonly { readonly key: UniqueKey; readonly fields: readonly string[] }[];
}

const keysOfModels = new WeakMap<CompiledModel, UniqueKeys>();

/** Returns the unique keys that have exactly the fields of a `where`, the primary key first. */
export function planUnique(model: CompiledModel, where: AnyRow): readonly UniqueKey[] {
  const keys = uniqueKeysOf(model);
  const fields = Object.keys(where);
  const found =
    fields.length === 1
      ? keys.byField.get(fields[0]!)
      : keys.all.filter((key) => hasFields(key.fields, fields)).map(({ key }) => key);
  if (found !== undefined && found.length > 0) return found;
  if (fields.length === 0)
    throw new InvalidQueryError(model.name, "where", "it must name the fields of a unique key");
  for (const field of fields) {
    assertField(model, field);
    uniquePart(model, field, where[field]);
  }
  const query = parseQueryFields(model, { where });
  throw unindexedRow(model, query, (queried) => existingKeys(model, queried));
}

/** Returns the key part for a value of a unique key. With `assertsKind`, checks its type. */
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

function uniqueKeysOf(model: CompiledModel): UniqueKeys {
  let keys = keysOfModels.get(model);
  if (keys !== undefined) return keys;
  const indexes = model.indexes.filter(
    ({ unique, where, each }) => unique && where === undefined && each === undefined,
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

function hasFields(key: readonly string[], fields: readonly string[]): boolean {
  return key.length === fields.length && key.every((field) => fields.includes(field));
}
