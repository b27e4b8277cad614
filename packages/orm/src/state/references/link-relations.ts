import { ModelDefinitionError } from "../../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { kindOf } from "../../model/fields/value-kind.js";
import type {
  LinkedRelation,
  LinkedRelations,
  Reference,
} from "../../model/relations/linked-relations.js";
import type { BelongsTo, Relation } from "../../model/relations/relation-definition.js";
import { assertCopies } from "./assert-copies.js";
import { referenceIndex } from "./reference-index.js";

interface Links {
  readonly relations: Map<string, LinkedRelation>;
  readonly referencedBy: Reference[];
  readonly copiedBy: Reference[];
}

/**
 * Resolves the relations of the models of a database. For the name of each model, the result has
 * the targets of its relations and the `belongsTo` relations that refer to it.
 *
 * @throws {ModelDefinitionError} if a relation names a model or field that does not exist, if its
 * fields differ in number or kind from the primary key that they hold, if no index begins with
 * them, or if it copies a field that does not exist.
 */
export function linkRelations(
  models: readonly CompiledModel[],
): ReadonlyMap<string, LinkedRelations> {
  const links = new Map<string, Links>();
  for (const { name } of models)
    links.set(name, { relations: new Map(), referencedBy: [], copiedBy: [] });
  for (const model of models) {
    for (const [name, relation] of Object.entries(model.relations)) {
      const link = linkRelation(models, model, name, relation);
      links.get(model.name)?.relations.set(name, link);
      if (relation.kind !== "belongsTo") continue;
      const { fields, onDelete, copy } = relation;
      const { index } = link;
      const reference = { model, relation: name, fields, onDelete, copy, index };
      links.get(relation.model)?.referencedBy.push(reference);
      if (Object.keys(copy).length > 0) links.get(relation.model)?.copiedBy.push(reference);
    }
  }
  assertCopies(models);
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
    const reason = `the database has no model ${JSON.stringify(modelName)}; its models are ${known}`;
    throw definitionError(model, name, reason);
  };
  const target = find(relation.model);
  switch (relation.kind) {
    case "belongsTo": {
      assertHolds(model, name, model, relation.fields, target);
      const index = indexOf(model, name, model, relation.fields);
      assertRestorable(model, name, relation, target);
      return { name, relation, target, index, through: undefined };
    }
    case "hasMany":
    case "hasOne": {
      assertHolds(model, name, target, relation.fields, model);
      const index = indexOf(model, name, target, relation.fields);
      return { name, relation, target, index, through: undefined };
    }
    case "manyToMany": {
      const through = find(relation.through);
      assertHolds(model, name, through, relation.from, model);
      assertHolds(model, name, through, relation.to, target);
      const index = indexOf(model, name, through, relation.from);
      return { name, relation, target, index, through };
    }
    default: {
      const functions = "belongsTo, hasMany, hasOne or manyToMany";
      throw definitionError(model, name, `it must be the result of ${functions}`);
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
  const { primaryKey } = held;
  for (const field of fields) {
    if (Object.hasOwn(holder.schema.shape, field)) continue;
    const reason = `the model ${holder.name} has no field ${JSON.stringify(field)}`;
    throw definitionError(model, relation, reason);
  }
  if (fields.length !== primaryKey.length) {
    const count = fields.length === 1 ? "one field" : `${fields.length} fields`;
    const reason = `it names ${count}, but the primary key of ${held.name} is ${primaryKey.join(", ")}`;
    throw definitionError(model, relation, reason);
  }
  for (const [i, field] of fields.entries()) {
    const part = primaryKey[i] ?? "";
    const holderKind = kindOf(holder.schema.shape[field]!);
    const heldKind = kindOf(held.schema.shape[part]!);
    if (holderKind === undefined || heldKind === undefined || holderKind === heldKind) continue;
    const reason = `${holder.name}.${field} is a ${holderKind}, but it must hold ${held.name}.${part}, a ${heldKind}`;
    throw definitionError(model, relation, reason);
  }
}

/** Refuses a relation by which the deletion of a row that can be restored would lose others. */
function assertRestorable(
  model: CompiledModel,
  name: string,
  { onDelete }: BelongsTo,
  target: CompiledModel,
): void {
  if (onDelete !== "cascade" || target.softDelete === undefined || model.softDelete !== undefined)
    return;
  const reason = `onDelete: "cascade" would remove rows of ${model.name} that restore of ${target.name} cannot bring back, because only ${target.name} has softDelete; give ${model.name} softDelete too, or choose onDelete: "restrict" or "setNull"`;
  throw definitionError(model, name, reason);
}

/** Returns the index that finds rows by the fields of a relation, undefined for the primary key. */
function indexOf(
  model: CompiledModel,
  relation: string,
  holder: CompiledModel,
  fields: readonly string[],
): CompiledIndex | undefined {
  const index = referenceIndex(holder, fields);
  if (index === "primaryKey") return undefined;
  if (index !== undefined) return index;
  const reason = `no index of ${holder.name} begins with ${fields.join(", ")} and has all rows; add ${indexCode(fields)} to its indexes`;
  throw definitionError(model, relation, reason);
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
