import { ModelDefinitionError } from "../../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel, CopiedField } from "../compiled-model.js";
import { isPlainObject } from "../is-plain-object.js";
import type { Model } from "../model.js";

/**
 * Checks the fields that `belongsTo` relations copy.
 *
 * @throws {ModelDefinitionError} if one is not in the schema, has no default, is copied twice, or
 * is in the primary key, a unique index or a reference, whose values have to be known before.
 */
export function compileCopiedFields(
  { name, schema, relations = {} }: Model,
  primaryKey: readonly string[],
  indexes: readonly CompiledIndex[],
): CompiledModel["copied"] {
  const copied = new Map<string, CopiedField>();
  const references = new Set<string>();
  for (const relation of Object.values(relations)) {
    if (relation.kind === "belongsTo") for (const field of relation.fields) references.add(field);
  }
  for (const [relationName, relation] of Object.entries(relations)) {
    if (relation.kind !== "belongsTo") continue;
    const at = `relations.${relationName}.copy`;
    const { copy } = relation;
    const fail = (reason: string): never => {
      throw new ModelDefinitionError(name, at, reason);
    };
    if (!isPlainObject(copy))
      fail("it must be an object: the names of fields, and the fields that they copy");
    for (const [field, from] of Object.entries(copy)) {
      const text = JSON.stringify(field);
      const type = Object.hasOwn(schema.shape, field) ? schema.shape[field] : undefined;
      if (type === undefined) fail(`the schema has no field ${text}`);
      if (typeof from !== "string")
        fail(`${text} must be the name of a field of ${relation.model}`);
      if (copied.has(field)) fail(`another relation copies a value to ${text} too`);
      if (primaryKey.includes(field)) fail(`${text} is in the primary key, which never changes`);
      if (references.has(field)) fail(`a relation uses ${text} as its reference`);
      const unique = indexes.find((index) => index.unique && mayUse(index, field));
      if (unique !== undefined) {
        fail(
          `the unique index ${unique.name} uses ${text}, or a function that may; a write of ${relation.model} could not keep it unique`,
        );
      }
      if (type!._zod.optin === undefined) {
        fail(`the field ${text} needs a default, because data does not contain it`);
      }
      copied.set(field, { relation: relationName, from });
    }
  }
  return copied;
}

/** True if a field may determine which entries a row has in an index. */
export function mayUse({ keyFields }: CompiledIndex, field: string): boolean {
  return keyFields === undefined || keyFields.has(field);
}
