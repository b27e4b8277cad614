import type { CompiledIndex, CompiledModel } from "@keywright/orm/codegen";
import type { ModelNames, NamedModel } from "../../../project/models/model-names.js";
import { propertyName } from "../../../types/identifiers.js";
import { type LinkedModel, linkedModels } from "../relation-methods.js";

/** Returns the name of the interface of a model's relations: `UserRelations`. */
export function relationsName({ base }: ModelNames): string {
  return `${base}Relations`;
}

/**
 * Returns the members of the interface of a model's relations, as code. It is empty if the model
 * has no relations to one of `models`.
 */
export function relationMembers(
  model: CompiledModel,
  models: readonly NamedModel[],
): readonly string[] {
  return linkedModels(model, models).map(
    (linked) => `${propertyName(linked.name)}: ${relationType(model, linked, models)};`,
  );
}

function relationType(
  model: CompiledModel,
  { relation, target, through }: LinkedModel,
  models: readonly NamedModel[],
): string {
  const hasRelations = linkedModels(target.model, models).length > 0;
  const relations = hasRelations ? relationsName(target.names) : "Record<never, never>";
  const { row } = target.names;
  if (relation.kind === "manyToMany") {
    if (through === undefined) return `RelatedRows<${row}, ${relations}>`;
    const keys = servingKeys(through.model, relation.from);
    return `RelatedRows<${row}, ${relations}, ${keys.join(" | ")}, ${through.names.row}>`;
  }
  if (relation.kind === "hasMany") {
    const keys = servingKeys(target.model, relation.fields);
    return `RelatedRows<${row}, ${relations}, ${keys.join(" | ")}>`;
  }
  const mayBeAbsent =
    relation.kind === "hasOne" || relation.fields.some((field) => model.optionalFields.has(field));
  if (mayBeAbsent) return `RelatedRow<${row}, ${relations}, null>`;
  return hasRelations ? `RelatedRow<${row}, ${relations}>` : `RelatedRow<${row}>`;
}

/**
 * Returns the fields by which the rows that refer to a row can be restricted and sorted: for each
 * index that serves the relation, those after the fields of the relation.
 */
function servingKeys(target: CompiledModel, fields: readonly string[]): string[] {
  const indexes = target.indexes.filter(
    (index) => !index.isHidden && serves(target, index, fields),
  );
  const keys = [
    target.primaryKey,
    ...indexes.map((index) =>
      index.unique ? index.fields : [...new Set([...index.fields, ...target.primaryKey])],
    ),
  ];
  const served = keys.filter((key) => fields.every((field, at) => key[at] === field));
  const rest = served.map((key) => JSON.stringify(key.slice(fields.length)));
  return [...new Set(rest)];
}

/** True if an index has an entry for each row that has a relation, by the values of the row. */
function serves(
  { optionalFields }: CompiledModel,
  { parts, each, where }: CompiledIndex,
  fields: readonly string[],
): boolean {
  if (each !== undefined || where !== undefined) return false;
  return parts.every(
    ({ field, compute }) =>
      compute === undefined && (fields.includes(field) || !optionalFields.has(field)),
  );
}
