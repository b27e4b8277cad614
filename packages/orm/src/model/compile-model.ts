import type { KvKeyPart } from "@keywright/core";
import type * as z from "zod";
import { ModelDefinitionError } from "../errors/orm-errors.js";
import { defaultIndexPrefix } from "./index-prefix.js";
import type { Model } from "./model.js";

/** A row, whatever its model. */
export type AnyRow = Readonly<Record<string, unknown>>;

/** An index as the code that maintains it sees it. */
export interface CompiledIndex {
  readonly name: string;
  readonly prefix: string;
  readonly fields: readonly string[];
  readonly unique: boolean;
  readonly normalize: ((value: unknown) => KvKeyPart) | undefined;
}

/** A model as the code that reads and writes its rows sees it. */
export interface CompiledModel {
  readonly name: string;
  readonly schema: z.ZodObject;
  readonly primaryKey: readonly string[];
  /** The primary key is one `z.ulid()`, which `create` generates where it is absent. */
  readonly generatesId: boolean;
  readonly indexes: readonly CompiledIndex[];
  /** The fields of indexes that a row may lack: it is not in an index then. */
  readonly optionalFields: ReadonlySet<string>;
}

/** The first part of the keys that are Keywright's own. */
export const ownPrefix = "__keywright";

/**
 * Checks a model's definition and lays it out.
 *
 * @throws {ModelDefinitionError} for one that contradicts itself or its schema.
 */
export function compileModel(model: Model): CompiledModel {
  const { name, schema } = model;
  if (name === "" || name === ownPrefix) {
    throw new ModelDefinitionError(name, "name", "this name cannot be used");
  }
  const primaryKey = listOf(model.primaryKey);
  assertFields(model, "primaryKey", primaryKey);
  const indexes: CompiledIndex[] = [];
  for (const [indexName, definition] of Object.entries(model.indexes)) {
    const fields = listOf(definition.key);
    assertFields(model, `indexes.${indexName}.key`, fields);
    if (definition.normalize !== undefined && fields.length > 1) {
      const at = `indexes.${indexName}.normalize`;
      throw new ModelDefinitionError(name, at, "an index over several fields cannot normalize");
    }
    indexes.push({
      name: indexName,
      prefix: definition.prefix ?? defaultIndexPrefix(name, indexName),
      fields,
      unique: definition.unique ?? false,
      normalize: definition.normalize as CompiledIndex["normalize"],
    });
  }
  const indexed = new Set(indexes.flatMap((index) => index.fields));
  const isOptional = (field: string) => canBeAbsent(schema.shape[field] as z.ZodType);
  const compiled: CompiledModel = {
    name,
    schema,
    primaryKey,
    generatesId: isUlid(schema, primaryKey),
    indexes,
    optionalFields: new Set([...indexed].filter(isOptional)),
  };
  assertDistinctPrefixes([compiled]);
  return compiled;
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

function listOf(key: string | readonly string[]): readonly string[] {
  return typeof key === "string" ? [key] : key;
}

function assertFields(model: Model, at: string, fields: readonly string[]): void {
  if (fields.length === 0) throw new ModelDefinitionError(model.name, at, "it names no field");
  for (const [position, field] of fields.entries()) {
    if (!Object.hasOwn(model.schema.shape, field)) {
      throw new ModelDefinitionError(
        model.name,
        at,
        `the schema has no field ${JSON.stringify(field)}`,
      );
    }
    if (fields.indexOf(field) !== position) {
      throw new ModelDefinitionError(model.name, at, `it names ${JSON.stringify(field)} twice`);
    }
  }
}

/** Whether a stored row may have nothing in a field: a default or a transform may still put something there. */
function canBeAbsent(schema: z.ZodType): boolean {
  return [undefined, null].some((value) => {
    try {
      const result = schema.safeParse(value);
      return result.success && (result.data === undefined || result.data === null);
    } catch {
      // An asynchronous schema: what it makes of nothing is not known here.
      return true;
    }
  });
}

function isUlid(schema: z.ZodObject, primaryKey: readonly string[]): boolean {
  const [field] = primaryKey;
  if (field === undefined || primaryKey.length > 1) return false;
  const definition: { type?: string; format?: string } = schema.shape[field]?._zod.def ?? {};
  return definition.type === "string" && definition.format === "ulid";
}
