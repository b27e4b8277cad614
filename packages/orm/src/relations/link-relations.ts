import { ModelDefinitionError } from "../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import type { LinkedRelation, LinkedRelations, Reference } from "../model/linked-relations.js";
import type { Relation } from "../model/relation-definition.js";
import { kindOf } from "../query/plan/value-kinds.js";
import { referenceIndex } from "./reference-index.js";

/** {@link LinkedRelations} while they are collected. */
interface Links {
  readonly relations: Map<string, LinkedRelation>;
  readonly referencedBy: Reference[];
}

/**
 * Resolves the relations of the models of a database. For the name of each model, the result has
 * the targets of its relations and the `belongsTo` relations that refer to it.
 *
 * @throws {ModelDefinitionError} if a relation names a model that is not in `models`, or fields
 * that do not exist; if the fields differ in number or kind from the primary key that they hold; or
 * if no index begins with the fields. In the last case, the message names the index to add.
 */
export function linkRelations(
  models: readonly CompiledModel[],
): ReadonlyMap<string, LinkedRelations> {
  const links = new Map<string, Links>();
  for (const { name } of models) links.set(name, { relations: new Map(), referencedBy: [] });
  for (const model of models) {
    for (const [name, relation] of Object.entries(model.relations)) {
      const link = linkRelation(models, model, name, relation);
      links.get(model.name)?.relations.set(name, link);
      if (relation.kind !== "belongsTo") continue;
      const { fields, onDelete } = relation;
      const { index } = link;
      const reference = { model, relation: name, fields, onDelete, index };
      links.get(relation.model)?.referencedBy.push(reference);
    }
  }
  return links;
}

function linkRelation(
  models: readonly CompiledModel[],
  model: CompiledModel,
  name: string,
  relation: Relation,
): LinkedRelation {
  const find = (modelName: string): CompiledModel => {
    const found = models.find((candidate) => candidate.name === modelName);
    if (found !== undefined) return found;
    const known = models.map((candidate) => candidate.name).join(", ");
    throw definitionError(
      model,
      name,
      `the database has no model that is called ${JSON.stringify(modelName)}: it has ${known}`,
    );
  };
  const target = find(relation.model);
  switch (relation.kind) {
    case "belongsTo": {
      const { fields } = relation;
      assertHolds(model, name, model, fields, target);
      const index = indexOf(model, { relation: name, model, fields });
      return { name, relation, target, index, through: undefined };
    }
    case "hasMany":
    case "hasOne": {
      const { fields } = relation;
      assertHolds(model, name, target, fields, model);
      const index = indexOf(model, { relation: name, model: target, fields });
      return { name, relation, target, index, through: undefined };
    }
    case "manyToMany": {
      const through = find(relation.through);
      assertHolds(model, name, through, relation.from, model);
      assertHolds(model, name, through, relation.to, target);
      const index = indexOf(model, { relation: name, model: through, fields: relation.from });
      return { name, relation, target, index, through };
    }
    default: {
      const kinds = "belongsTo, hasMany, hasOne or manyToMany";
      throw definitionError(model, name, `it has to be made by ${kinds}`);
    }
  }
}

/** Checks that fields of one model can hold the primary key of another. */
function assertHolds(
  model: CompiledModel,
  relation: string,
  holder: CompiledModel,
  fields: readonly string[],
  held: CompiledModel,
): void {
  for (const field of fields) {
    if (Object.hasOwn(holder.schema.shape, field)) continue;
    throw definitionError(
      model,
      relation,
      `the model ${holder.name} has no field ${JSON.stringify(field)}`,
    );
  }
  if (fields.length !== held.primaryKey.length) {
    const primaryKey = held.primaryKey.join(", ");
    const reason = `the primary key of ${held.name} is ${primaryKey}, and it names ${fields.length} fields for it`;
    throw definitionError(model, relation, reason);
  }
  for (const [i, field] of fields.entries()) {
    const part = held.primaryKey[i] ?? "";
    const holderKind = kindOf(holder.schema.shape[field]!);
    const heldKind = kindOf(held.schema.shape[part]!);
    if (holderKind === undefined || heldKind === undefined || holderKind === heldKind) continue;
    const reason = `${holder.name}.${field} is a ${holderKind}, and ${held.name}.${part} that it has to hold a ${heldKind}`;
    throw definitionError(model, relation, reason);
  }
}

/**
 * Returns the index that finds rows by the fields of a relation, undefined for the primary key.
 *
 * @throws {ModelDefinitionError} if there is none.
 */
function indexOf(
  model: CompiledModel,
  link: { relation: string; model: CompiledModel; fields: readonly string[] },
): CompiledIndex | undefined {
  const { relation, model: holder, fields } = link;
  const index = referenceIndex(holder, fields);
  if (index === "primaryKey") return undefined;
  if (index !== undefined) return index;
  const problem = `no index of the model ${holder.name} that has all rows begins with ${fields.join(", ")}`;
  throw definitionError(model, relation, `${problem}: add ${indexCode(fields)} to its indexes`);
}

function indexCode(fields: readonly string[]): string {
  const names = fields.map((field) => field.charAt(0).toUpperCase() + field.slice(1));
  const key = fields.length === 1 ? JSON.stringify(fields[0]) : JSON.stringify(fields);
  return `by${names.join("And")}: { key: ${key} }`;
}

function definitionError(
  model: CompiledModel,
  relation: string,
  reason: string,
): ModelDefinitionError {
  return new ModelDefinitionError(model.name, `relations.${relation}`, reason);
}
