import type * as z from "zod";
import { ModelDefinitionError } from "../errors/schema-errors.js";
import { assertBooleans, assertFields, assertOptions, compileIndex } from "./compile-index.js";
import { type CompiledModel, ownPrefix } from "./compiled-model.js";
import { canBeAbsent, canBeCleared, isUlid } from "./field-schema.js";
import { canBeInKey } from "./key-kinds.js";
import type { Model } from "./model.js";
import type { Relation } from "./relation-definition.js";

/** The options of a model. */
const options: Readonly<
  Record<
    "name" | "prefix" | "schema" | "primaryKey" | "indexes" | "relations" | "count" | "live",
    true
  >
> = {
  name: true,
  prefix: true,
  schema: true,
  primaryKey: true,
  indexes: true,
  relations: true,
  count: true,
  live: true,
};

/**
 * Refuses a definition with an option that a model does not have.
 *
 * @throws {ModelDefinitionError} naming the option.
 */
export function assertModelOptions(definition: { readonly name: string }): void {
  if (typeof definition !== "object" || definition === null)
    throw new ModelDefinitionError(String(definition), "", "it has to be an object");
  assertOptions(String(definition.name), "", definition, options);
}

/**
 * Checks a model's definition and lays it out.
 *
 * @throws {ModelDefinitionError} for one that contradicts itself or its schema.
 */
export function compileModel(model: Model): CompiledModel {
  const { name, prefix = name, schema } = model;
  if (typeof name !== "string" || name === "" || name === ownPrefix) {
    throw new ModelDefinitionError(String(name), "name", "this name cannot be used");
  }
  if (typeof prefix !== "string" || prefix === "")
    throw new ModelDefinitionError(name, "prefix", "it has to be a string that is not empty");
  const shape = (schema as Partial<z.ZodObject> | undefined)?.shape;
  if (shape === undefined)
    throw new ModelDefinitionError(name, "schema", "it has to be a z.object");
  assertBooleans(name, "", model, ["count", "live"]);
  const primaryKey = typeof model.primaryKey === "string" ? [model.primaryKey] : model.primaryKey;
  assertFields(model, "primaryKey", primaryKey);
  if (primaryKey.length === 0)
    throw new ModelDefinitionError(name, "primaryKey", "it names no field");
  for (const field of primaryKey) {
    const isAbsent = canBeAbsent(shape[field]!);
    if (!isAbsent && canBeInKey(shape[field]!)) continue;
    const reason = isAbsent ? "may be absent" : "has values that no key can hold";
    const text = `the field ${JSON.stringify(field)} ${reason}`;
    throw new ModelDefinitionError(name, "primaryKey", text);
  }
  if (typeof model.indexes !== "object" || model.indexes === null || Array.isArray(model.indexes))
    throw new ModelDefinitionError(name, "indexes", "it has to be an object of indexes");
  const indexes = Object.entries(model.indexes).map(([indexName, definition]) =>
    compileIndex(model, indexName, definition, primaryKey),
  );
  const absent = optionalFields(model, indexes);
  const compiled: CompiledModel = {
    name,
    prefix,
    schema,
    primaryKey,
    generatesId: primaryKey.length === 1 && isUlid(shape[primaryKey[0]!]),
    indexes,
    relations: compileRelations(model),
    optionalFields: absent,
    requiredFields: requiredFields(indexes, absent),
    counted: model.count ?? false,
    live: model.live ?? false,
  };
  assertDistinctPrefixes([compiled]);
  return compiled;
}

/** What can be said of a model's relations without the models that they name. */
function compileRelations(model: Model): CompiledModel["relations"] {
  const relations = model.relations ?? {};
  if (typeof relations !== "object" || Array.isArray(relations))
    throw new ModelDefinitionError(model.name, "relations", "it has to be an object of relations");
  for (const [name, relation] of Object.entries(relations)) {
    const at = `relations.${name}`;
    if (Object.hasOwn(model.schema.shape, name)) {
      throw new ModelDefinitionError(model.name, at, "the schema has a field of this name");
    }
    if (!isRelation(relation)) {
      const reason = "it has to be made by belongsTo, hasMany, hasOne or manyToMany";
      throw new ModelDefinitionError(model.name, at, reason);
    }
    if (relation.kind !== "belongsTo") continue;
    assertFields(model, at, relation.fields);
    const isNullable = relation.fields.some((field) => canBeCleared(model.schema.shape[field]!));
    if (relation.onDelete === "setNull" && !isNullable) {
      throw new ModelDefinitionError(model.name, at, "none of its fields may be absent");
    }
  }
  return relations;
}

function isRelation(value: Relation): boolean {
  if (typeof value !== "object" || value === null) return false;
  const isName = (name: unknown) => typeof name === "string" && name !== "";
  const areFields = (fields: unknown) =>
    Array.isArray(fields) && fields.length > 0 && fields.every(isName);
  if (!isName(value.model)) return false;
  switch (value.kind) {
    case "belongsTo":
      return areFields(value.fields) && ["restrict", "cascade", "setNull"].includes(value.onDelete);
    case "hasMany":
    case "hasOne":
      return areFields(value.fields);
    case "manyToMany":
      return isName(value.through) && areFields(value.from) && areFields(value.to);
    default:
      return false;
  }
}

function optionalFields(model: Model, indexes: CompiledModel["indexes"]): ReadonlySet<string> {
  const { shape } = model.schema;
  const fields = new Set(indexes.flatMap((index) => index.fields));
  return new Set([...fields].filter((field) => shape[field] && canBeAbsent(shape[field])));
}

/** The other fields of the indexes that hold every row; not those by whose elements a row is found. */
function requiredFields(
  indexes: CompiledModel["indexes"],
  optional: ReadonlySet<string>,
): CompiledModel["requiredFields"] {
  const fields = new Map<string, string>();
  for (const { name, parts, each, where } of indexes) {
    if (where !== undefined) continue;
    for (const [position, { field, compute }] of parts.entries()) {
      if (compute !== undefined || position === each) continue;
      if (!optional.has(field) && !fields.has(field)) fields.set(field, name);
    }
  }
  return fields;
}

/**
 * Checks that no two models have one name, and no two models or indexes store their entries in the same place.
 *
 * @throws {ModelDefinitionError} naming the second of two.
 */
export function assertDistinctPrefixes(models: readonly CompiledModel[]): void {
  const takenBy = new Map<string, string>([[ownPrefix, "Keywright itself"]]);
  const take = (model: CompiledModel, at: string, prefix: string) => {
    const owner = takenBy.get(prefix);
    if (owner !== undefined) {
      const reason = `its keys would begin with ${JSON.stringify(prefix)}, which ${owner} has`;
      throw new ModelDefinitionError(model.name, at, reason);
    }
    takenBy.set(prefix, at.startsWith("indexes.") ? `${model.name}.${at}` : `model ${model.name}`);
  };
  const names = new Set<string>();
  for (const model of models) {
    if (names.has(model.name))
      throw new ModelDefinitionError(model.name, "name", "another model has this name");
    names.add(model.name);
    take(model, model.prefix === model.name ? "name" : "prefix", model.prefix);
    for (const index of model.indexes) take(model, `indexes.${index.name}`, index.prefix);
  }
}
