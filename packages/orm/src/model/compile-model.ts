import { type KeyOrder, specificationOrder } from "@keywright/core";
import type * as z from "zod";
import { ModelDefinitionError } from "../errors/schema-errors.js";
import { compileExtremes, compileSums } from "./aggregates/compile-aggregates.js";
import { countersOf } from "./aggregates/counter.js";
import { extremeIndex } from "./aggregates/extremes.js";
import { assertBooleans, assertFields, assertOptions } from "./assert-definition.js";
import { type CompiledIndex, type CompiledModel, systemPrefix } from "./compiled-model.js";
import { canBeAbsent, canBeCleared, isUlid } from "./fields/field-schema.js";
import { canBeInKey } from "./fields/key-kinds.js";
import { changedClassIn } from "./fields/stored-class.js";
import { compileIndex } from "./indexes/compile-index.js";
import { plainPart } from "./indexes/plain-index.js";
import type { Model } from "./model.js";
import { compileComputed } from "./options/compile-computed.js";
import { compileSoftDelete, withoutMarkedRows } from "./options/soft-delete.js";
import { compileTimestamps } from "./options/timestamps.js";
import { compileCopiedFields } from "./relations/copied-fields.js";
import type { Relation } from "./relations/relation-definition.js";

const knownOptions =
  "name prefix schema primaryKey indexes relations computed count sum min max timestamps softDelete live".split(
    " ",
  );

const deleteRules: readonly string[] = ["restrict", "cascade", "setNull"];

/**
 * Checks that the definition of a model is an object and has no unknown option.
 *
 * @throws {ModelDefinitionError} if not. The error names the option.
 */
export function assertModelOptions(definition: { readonly name: string }): void {
  if (typeof definition !== "object" || definition === null)
    throw new ModelDefinitionError(String(definition), "", "it must be an object");
  assertOptions(String(definition.name), "", definition, knownOptions);
}

const zod4Required =
  'it is a schema of Zod 3, and Keywright requires Zod 4; install zod 4 and import from "zod", not from "zod/v3"';

const zodMiniRefused =
  'it is an object of zod/mini, which lacks methods that Keywright needs; use z.object from "zod"';

/** True for schemas of Zod 3, and of the subpath `zod/v3` of Zod 4. */
function isZod3(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && "_def" in schema && !("_zod" in schema);
}

/**
 * Checks and compiles the definition of a model.
 *
 * @param keyOrder the order of the keys of the database.
 * @throws {ModelDefinitionError} if the definition contradicts itself or its schema.
 */
export function compileModel(model: Model, keyOrder: KeyOrder = specificationOrder): CompiledModel {
  const { name, prefix = name, schema } = model;
  if (typeof name !== "string" || name === "" || name === systemPrefix) {
    throw new ModelDefinitionError(
      String(name),
      "name",
      `it must be a string, not empty and not "${systemPrefix}"`,
    );
  }
  if (typeof prefix !== "string" || prefix === "")
    throw new ModelDefinitionError(name, "prefix", "it must be a string that is not empty");
  const shape = (schema as Partial<z.ZodObject> | undefined)?.shape;
  if (isZod3(schema)) throw new ModelDefinitionError(name, "schema", zod4Required);
  if (shape === undefined) throw new ModelDefinitionError(name, "schema", "it must be a z.object");
  if (!("catchall" in schema)) throw new ModelDefinitionError(name, "schema", zodMiniRefused);
  for (const [field, type] of Object.entries(shape))
    if (isZod3(type)) throw new ModelDefinitionError(name, `schema.${field}`, zod4Required);
  for (const [field, type] of Object.entries(shape)) {
    const changed = changedClassIn(type);
    if (changed === undefined) continue;
    const reason = `reads return an instance of ${changed.name} as a ${changed.stored}; write z.instanceof(${changed.stored})`;
    throw new ModelDefinitionError(name, `schema.${field}`, reason);
  }
  assertBooleans(name, "", model, ["count", "timestamps", "live"]);
  const primaryKey = typeof model.primaryKey === "string" ? [model.primaryKey] : model.primaryKey;
  assertFields(model, "primaryKey", primaryKey);
  if (primaryKey.length === 0)
    throw new ModelDefinitionError(name, "primaryKey", "it must name at least one field");
  for (const field of primaryKey) {
    const isAbsent = canBeAbsent(shape[field]!);
    if (!isAbsent && canBeInKey(shape[field]!)) continue;
    const reason = isAbsent
      ? "may be absent; make it required"
      : "has values that a key cannot hold";
    const text = `the field ${JSON.stringify(field)} ${reason}`;
    throw new ModelDefinitionError(name, "primaryKey", text);
  }
  if (typeof model.indexes !== "object" || model.indexes === null || Array.isArray(model.indexes))
    throw new ModelDefinitionError(name, "indexes", "it must be an object of indexes by name");
  assertNames(model);
  const declared = Object.entries({ ...model.indexes, ...model.textIndexes }).map(
    ([indexName, definition]) => compileIndex(model, indexName, definition, primaryKey, keyOrder),
  );
  const sums = compileSums(model, "", model.sum);
  const ofAllRows = compileExtremes(model, "", model);
  const { indexes: allRows, extremes } = withExtremes(model, prefix, declared, ofAllRows);
  const softDelete = compileSoftDelete(model, primaryKey);
  const indexes = withoutMarkedRows(prefix, model, allRows, softDelete);
  const optional = optionalFields(schema, indexes);
  const compiled: CompiledModel = {
    name,
    prefix,
    place: prefix,
    schema,
    primaryKey,
    generatesId: primaryKey.length === 1 && isUlid(shape[primaryKey[0]!]),
    indexes,
    relations: compileRelations(model),
    computed: compileComputed(model),
    copied: compileCopiedFields(model, primaryKey, indexes),
    optionalFields: optional,
    requiredFields: requiredFields(indexes, optional),
    counted: sums.length > 0 || (model.count ?? false),
    sums,
    extremes,
    counters: countersOf(
      { counted: sums.length > 0 || (model.count ?? false), prefix, sums },
      indexes,
      softDelete,
    ),
    timestamps: compileTimestamps(model),
    softDelete,
    live: model.live ?? false,
    keyOrder,
  };
  assertDistinctPrefixes([compiled]);
  return compiled;
}

/**
 * Objects have fields, indexes and relations by name, and `__proto__` would set their prototype.
 */
function assertNames({ name, prefix, schema, indexes, textIndexes, relations = {} }: Model): void {
  const namesIn = (place: string, object: object) =>
    Object.keys(object).map((each) => [each, `${place}.${each}`] as const);
  const names = [
    [name, "name"] as const,
    [prefix, "prefix"] as const,
    ...namesIn("schema", schema.shape),
    ...namesIn("indexes", { ...indexes, ...textIndexes }),
    ...namesIn("relations", relations),
  ];
  const refused = names.find(([each]) => each === "__proto__");
  if (refused === undefined) return;
  throw new ModelDefinitionError(name, refused[1], "a name cannot be __proto__; use another one");
}

/** Adds the indexes that `min` and `max` need, and their names. */
function withExtremes(
  { schema }: Model,
  prefix: string,
  declared: readonly CompiledIndex[],
  ofAllRows: ReadonlyMap<string, string>,
): Pick<CompiledModel, "indexes" | "extremes"> {
  const added = new Map<string, CompiledIndex>();
  const named = (index: CompiledIndex | undefined, fields: Iterable<string>) =>
    new Map(
      [...fields].map((field) => {
        const part = plainPart(field);
        const ordered = extremeIndex(prefix, schema, index, part, declared);
        if (ordered.isHidden) added.set(ordered.name, ordered);
        return [field, ordered.name] as const;
      }),
    );
  const extremes = named(undefined, ofAllRows.keys());
  const complete = declared.map((index) =>
    index.extremes.size === 0 ? index : { ...index, extremes: named(index, index.extremes.keys()) },
  );
  return { indexes: [...complete, ...added.values()], extremes };
}

function compileRelations(model: Model): CompiledModel["relations"] {
  const relations = model.relations ?? {};
  if (typeof relations !== "object" || Array.isArray(relations))
    throw new ModelDefinitionError(
      model.name,
      "relations",
      "it must be an object of relations by name",
    );
  for (const [name, relation] of Object.entries(relations)) {
    const at = `relations.${name}`;
    if (Object.hasOwn(model.schema.shape, name)) {
      throw new ModelDefinitionError(
        model.name,
        at,
        "the schema has a field of this name; rename the relation",
      );
    }
    if (relation?.kind === "belongsTo" && !deleteRules.includes(relation.onDelete)) {
      const reason = 'it must be "restrict", "cascade" or "setNull"';
      throw new ModelDefinitionError(model.name, `${at}.onDelete`, reason);
    }
    if (!isRelation(relation)) {
      const reason = "it must be made by belongsTo, hasMany, hasOne or manyToMany";
      throw new ModelDefinitionError(model.name, at, reason);
    }
    if (relation.kind !== "belongsTo") continue;
    assertFields(model, at, relation.fields);
    const isNullable = relation.fields.some((field) => canBeCleared(model.schema.shape[field]!));
    if (relation.onDelete === "setNull" && !isNullable) {
      throw new ModelDefinitionError(
        model.name,
        at,
        'onDelete: "setNull" needs a field that may be absent; make one optional or nullable',
      );
    }
  }
  return relations;
}

function isRelation(value: Relation): boolean {
  if (typeof value !== "object" || value === null) return false;
  const isName = (name: unknown) => typeof name === "string" && name !== "";
  const areNames = (fields: unknown) =>
    Array.isArray(fields) && fields.length > 0 && fields.every(isName);
  if (!isName(value.model)) return false;
  switch (value.kind) {
    case "belongsTo":
      return areNames(value.fields) && deleteRules.includes(value.onDelete);
    case "hasMany":
    case "hasOne":
      return areNames(value.fields);
    case "manyToMany":
      return isName(value.through) && areNames(value.from) && areNames(value.to);
    default:
      return false;
  }
}

/** Returns the fields of indexes that a row may lack. */
export function optionalFields(
  { shape }: z.ZodObject,
  indexes: CompiledModel["indexes"],
): ReadonlySet<string> {
  const fields = new Set(indexes.flatMap((index) => index.fields));
  return new Set([...fields].filter((field) => shape[field] && canBeAbsent(shape[field])));
}

/**
 * Returns the required fields of the indexes that must contain every row, each with the name of
 * such an index. An array whose elements are indexed does not count, because a row in which it is
 * empty has no entry anyway.
 */
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
 * Checks that no two models have the same name, and that no two models or indexes store their
 * entries under the same prefix.
 *
 * @throws {ModelDefinitionError} if two do. The error names the second one.
 */
export function assertDistinctPrefixes(models: readonly CompiledModel[]): void {
  const owners = new Map<string, string>([[systemPrefix, "Keywright itself"]]);
  const claim = (model: CompiledModel, at: string, prefix: string) => {
    const owner = owners.get(prefix);
    if (owner !== undefined) {
      const reason = `its keys would begin with ${JSON.stringify(prefix)}, as those of ${owner}; give it another prefix`;
      throw new ModelDefinitionError(model.name, at, reason);
    }
    owners.set(prefix, at.startsWith("indexes.") ? `${model.name}.${at}` : `model ${model.name}`);
  };
  const names = new Set<string>();
  for (const model of models) {
    if (names.has(model.name))
      throw new ModelDefinitionError(
        model.name,
        "name",
        "another model has this name; rename one of them",
      );
    names.add(model.name);
    claim(model, model.prefix === model.name ? "name" : "prefix", model.prefix);
    for (const index of model.indexes) claim(model, `indexes.${index.name}`, index.prefix);
  }
}
