import type { BelongsTo, HasMany, HasOne, ManyToMany } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";
import type { NamedModel } from "../../project/models/model-names.js";
import { pascalCase } from "../../types/identifiers.js";
import { isOptional } from "../../types/is-optional.js";
import { linkedModels } from "../methods/relation-methods.js";

/** A relation through which the data of a row can write other rows. */
export interface NestedRelation<R = BelongsTo | HasMany | HasOne | ManyToMany> {
  readonly name: string;
  readonly relation: R;
  readonly target: NamedModel;
}

/**
 * Returns the relations through which the data of a row can write other rows. There are none if the
 * schema accepts unknown fields, because their type would include that of the relations.
 *
 * @param filled fields that the row above determines. References by them are left out.
 */
export function nestedRelations(
  { model }: NamedModel,
  models: readonly NamedModel[],
  filled: readonly string[] = [],
): NestedRelation[] {
  if (isOpen(model)) return [];
  return linkedModels(model, models).filter(({ name, relation }) => {
    // A field of the schema has precedence over a relation with the same name.
    if (Object.hasOwn(model.schema.shape, name)) return false;
    if (relation.kind === "manyToMany") return hasOnlyLinks(relation, models);
    return relation.kind !== "belongsTo" || relation.fields.some((it) => !filled.includes(it));
  });
}

/** Returns the lists of fields by which relations to many rows or one row lead to a model. */
export function filledFields(
  { model }: NamedModel,
  models: readonly NamedModel[],
): (readonly string[])[] {
  const lists = models
    .flatMap((other) => nestedRelations(other, models))
    .flatMap(({ relation, target }) =>
      target.model === model && (relation.kind === "hasMany" || relation.kind === "hasOne")
        ? [relation.fields]
        : [],
    );
  return [...new Map(lists.map((fields) => [withoutFields(fields), fields])).values()];
}

/** Returns the end of the name of a type that lacks some fields: `WithoutAuthorId`. */
export function withoutFields(fields: readonly string[]): string {
  return fields.length === 0 ? "" : `Without${fields.map(pascalCase).join("And")}`;
}

/** True if `create` can leave a field out. */
export function canLeaveOut(
  { schema, generatesId, primaryKey }: CompiledModel,
  field: string,
): boolean {
  if (generatesId && primaryKey[0] === field) return true;
  const type = schema.shape[field];
  return type !== undefined && isOptional(type, "input");
}

/** True if the schema accepts unknown fields. */
function isOpen({ schema }: CompiledModel): boolean {
  const { catchall } = schema._zod.def;
  return catchall !== undefined && catchall._zod.def.type !== "never";
}

/** True if the rows between two models need no other fields than their references. */
function hasOnlyLinks({ through, from, to }: ManyToMany, models: readonly NamedModel[]): boolean {
  const between = models.find(({ model }) => model.name === through)?.model;
  if (between === undefined) return false;
  const references = [from, to].flat();
  return Object.keys(between.schema.shape).every(
    (field) => references.includes(field) || canLeaveOut(between, field),
  );
}
