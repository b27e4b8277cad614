import { ModelDefinitionError } from "../errors/schema-errors.js";

import type { AnyRow, CompiledIndex, CompiledPart } from "./compiled-model.js";
import { isList } from "./field-schema.js";
import type { AnyIndexDefinition, AnyIndexPart } from "./index-definition.js";
import { defaultIndexPrefix } from "./index-prefix.js";
import type { Model } from "./model.js";

/**
 * Checks the definition of an index and lays it out.
 *
 * @throws {ModelDefinitionError} for one that contradicts itself or the schema.
 */
export function compileIndex(
  model: Model,
  name: string,
  definition: AnyIndexDefinition,
  primaryKey: readonly string[],
): CompiledIndex {
  const at = `indexes.${name}`;
  const fail = (place: string, reason: string): never => {
    throw new ModelDefinitionError(model.name, place === "" ? at : `${at}.${place}`, reason);
  };
  if (typeof definition !== "object" || definition === null) fail("", "it has to be an object");
  const { key, unique = false, each = false, normalize, where, store = "pointer" } = definition;
  const given = Array.isArray(key) ? (key as readonly AnyIndexPart[]) : [key as AnyIndexPart];
  const parts = given.map((part) => compilePart(part, name, (reason) => fail("key", reason)));
  const fields = parts.map((part) => part.field);
  assertFields(
    model,
    `${at}.key`,
    parts.filter((part) => part.compute === undefined).map((part) => part.field),
  );
  if (new Set(fields).size < fields.length)
    fail("key", "it has two computed parts, or one that is named as a field is");
  if (parts.some((part) => part.compute) && Object.hasOwn(model.schema.shape, name)) {
    fail("key", "a computed index needs another name than a field has, for queries use its name");
  }
  if (normalize !== undefined && typeof normalize !== "function")
    fail("normalize", "it has to be a function");
  if (where !== undefined && typeof where !== "function") fail("where", "it has to be a function");
  if (normalize !== undefined && parts.length > 1) {
    fail("normalize", "an index over several fields cannot normalize");
  }
  if (normalize !== undefined && parts[0]?.compute)
    fail("normalize", "a computed index cannot normalize");
  if (store !== "pointer" && store !== "copy") fail("store", 'it has to be "pointer" or "copy"');
  const { include } = definition;
  if (include !== undefined) {
    if (store === "copy") fail("include", "a copy has every field already");
    assertFields(model, `${at}.include`, include);
  }
  return {
    name,
    prefix: definition.prefix ?? defaultIndexPrefix(model.name, name),
    parts,
    fields,
    unique,
    each: each ? listPart(model, parts, (reason) => fail("each", reason)) : undefined,
    normalize: normalize as CompiledIndex["normalize"],
    where: where as CompiledIndex["where"],
    store: include === undefined ? store : "include",
    include: include === undefined ? [] : [...new Set([...primaryKey, ...include])],
    counted: definition.count ?? false,
  };
}

function compilePart(
  part: AnyIndexPart,
  indexName: string,
  fail: (reason: string) => never,
): CompiledPart {
  if (typeof part === "string") return { field: part, descending: false, compute: undefined };
  if (typeof part === "function") {
    const compute = part as (row: AnyRow) => unknown;
    return { field: indexName, descending: false, compute };
  }
  if (typeof part !== "object" || part === null || typeof part.desc !== "string") {
    fail("a part of it is neither a field, nor desc of one, nor a function");
  }
  return { field: part.desc, descending: true, compute: undefined };
}

/** The place of the part whose values are arrays. */
function listPart(
  model: Model,
  parts: readonly CompiledPart[],
  fail: (reason: string) => never,
): number {
  const lists = [...parts.keys()].filter((position) => {
    const part = parts[position];
    return (
      part !== undefined && part.compute === undefined && isList(model.schema.shape[part.field]!)
    );
  });
  const computed = parts.findIndex((part) => part.compute !== undefined);
  if (lists.length === 0 && computed >= 0) return computed;
  if (lists.length !== 1) fail("exactly one part of its key has to be an array");
  return lists[0] ?? 0;
}

/** @throws {ModelDefinitionError} for a field that the schema does not have, or one that is named twice. */
export function assertFields(model: Model, at: string, fields: readonly string[]): void {
  if (!Array.isArray(fields))
    throw new ModelDefinitionError(model.name, at, "it has to be a list of fields");
  for (const [position, field] of fields.entries()) {
    if (!Object.hasOwn(model.schema.shape, field)) {
      const reason = `the schema has no field ${JSON.stringify(field)}`;
      throw new ModelDefinitionError(model.name, at, reason);
    }
    if (fields.indexOf(field) !== position) {
      throw new ModelDefinitionError(model.name, at, `it names ${JSON.stringify(field)} twice`);
    }
  }
}
