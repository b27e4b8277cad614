import type * as z from "zod";
import { ModelDefinitionError } from "../errors/schema-errors.js";
import { assertFields, compileIndex } from "./compile-index.js";
import { type CompiledModel, ownPrefix } from "./compiled-model.js";
import { canBeAbsent, isUlid } from "./field-schema.js";
import type { Model } from "./model.js";

/**
 * Checks a model's definition and lays it out.
 *
 * @throws {ModelDefinitionError} for one that contradicts itself or its schema.
 */
export function compileModel(model: Model): CompiledModel {
  const { name, schema } = model;
  if (typeof name !== "string" || name === "" || name === ownPrefix) {
    throw new ModelDefinitionError(String(name), "name", "this name cannot be used");
  }
  const shape = (schema as Partial<z.ZodObject> | undefined)?.shape;
  if (shape === undefined)
    throw new ModelDefinitionError(name, "schema", "it has to be a z.object");
  const primaryKey = typeof model.primaryKey === "string" ? [model.primaryKey] : model.primaryKey;
  assertFields(model, "primaryKey", primaryKey);
  if (primaryKey.length === 0)
    throw new ModelDefinitionError(name, "primaryKey", "it names no field");
  for (const field of primaryKey) {
    if (!canBeAbsent(shape[field]!)) continue;
    const reason = `the field ${JSON.stringify(field)} may be absent`;
    throw new ModelDefinitionError(name, "primaryKey", reason);
  }
  const indexes = Object.entries(model.indexes).map(([indexName, definition]) =>
    compileIndex(model, indexName, definition, primaryKey),
  );
  const compiled: CompiledModel = {
    name,
    schema,
    primaryKey,
    generatesId: primaryKey.length === 1 && isUlid(shape[primaryKey[0]!]),
    indexes,
    relations: compileRelations(model),
    optionalFields: optionalFields(model, indexes),
    counted: model.count ?? false,
    live: model.live ?? false,
  };
  assertDistinctPrefixes([compiled]);
  return compiled;
}

/** What can be said of a model's relations without the models that they name. */
function compileRelations(model: Model): CompiledModel["relations"] {
  const relations = model.relations ?? {};
  for (const [name, relation] of Object.entries(relations)) {
    const at = `relations.${name}`;
    if (Object.hasOwn(model.schema.shape, name)) {
      throw new ModelDefinitionError(model.name, at, "the schema has a field of this name");
    }
    if (relation.kind !== "belongsTo") continue;
    assertFields(model, at, relation.fields);
    const isNullable = relation.fields.some((field) => canBeAbsent(model.schema.shape[field]!));
    if (relation.onDelete === "setNull" && !isNullable) {
      throw new ModelDefinitionError(model.name, at, "none of its fields may be absent");
    }
  }
  return relations;
}

function optionalFields(model: Model, indexes: CompiledModel["indexes"]): ReadonlySet<string> {
  const { shape } = model.schema;
  const fields = new Set(indexes.flatMap((index) => index.fields));
  return new Set([...fields].filter((field) => shape[field] && canBeAbsent(shape[field])));
}

/**
 * Checks that no two models or indexes store their entries in the same place.
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
    takenBy.set(prefix, at === "name" ? `model ${model.name}` : `${model.name}.${at}`);
  };
  for (const model of models) {
    take(model, "name", model.name);
    for (const index of model.indexes) take(model, `indexes.${index.name}`, index.prefix);
  }
}
