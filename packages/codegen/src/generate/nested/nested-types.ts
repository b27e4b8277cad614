import type { NamedModel } from "../../project/models/model-names.js";
import { textOf } from "../../types/alternatives.js";
import { docComment } from "../../types/doc-comment.js";
import { propertyName } from "../../types/identifiers.js";
import type { ModelTypes } from "../../types/model-types.js";
import type { InterfaceType } from "../../types/object-type.js";
import { keyFields } from "../methods/parts/index-conditions.js";
import { primaryKeySubject } from "../methods/parts/subject.js";
import type { WriteData } from "../methods/parts/upsert-data.js";
import {
  canLeaveOut,
  filledFields,
  type NestedRelation,
  nestedRelations,
  withoutFields,
} from "./nested-relations.js";

/** A type of nested writes that a model's file declares. */
export interface NestedType {
  readonly name: string;
  /** The declaration as code, with its comment. */
  readonly text: string;
}

/** True if a type has members. One without members allows no others either. */
function hasMembers({ properties, rest }: InterfaceType): boolean {
  return properties.length > 0 || rest.length > 0;
}

/** Returns the name of the type of `create`'s data. */
function createDataName(named: NamedModel, models: readonly NamedModel[]): string {
  const hasRelations = nestedRelations(named, models).length > 0;
  return hasRelations ? `${named.names.base}CreateData` : named.names.create;
}

/** Returns the name of the type of `update`'s data. */
function updateDataName(named: NamedModel, models: readonly NamedModel[]): string {
  const hasRelations = nestedRelations(named, models).length > 0;
  return hasRelations ? `${named.names.base}UpdateData` : named.names.update;
}

/** Returns the types of the data of writes of one row. */
export function writeData(named: NamedModel, models: readonly NamedModel[]): WriteData {
  return {
    create: createDataName(named, models),
    update: updateDataName(named, models),
    references: fieldsOf(requiredReferences(named, nestedRelations(named, models))),
  };
}

/** Returns the names of the types that the data of other models can refer to. */
export function nestedNames(named: NamedModel, models: readonly NamedModel[]): string[] {
  const { base, row } = named.names;
  const parts = filledFields(named, models).flatMap((fields) => {
    const suffix = withoutFields(fields);
    return [`${base}Create${suffix}`, `${base}Update${suffix}`];
  });
  const data = [createDataName(named, models), updateDataName(named, models)];
  return [...data, ...parts, `${base}Unique`, row];
}

/**
 * Returns the types of nested writes that a model's file declares: the data of `create` and
 * `update` if it has relations, and if relations lead to it, what their data has.
 */
export function nestedTypes(
  named: NamedModel,
  types: ModelTypes,
  models: readonly NamedModel[],
): NestedType[] {
  const { model, names } = named;
  const { base } = names;
  const isTarget = models.some((other) =>
    nestedRelations(other, models).some(({ target }) => target.model === model),
  );
  const declared: NestedType[] = [];
  const declare = (name: string, comment: string, text: (name: string) => string) =>
    declared.push({ name, text: `${docComment(comment)}export ${text(name)}` });
  const relations = nestedRelations(named, models);
  if (relations.length > 0) {
    const references = requiredReferences(named, relations);
    if (references.length > 0) {
      declare(
        `${base}CreateRelations`,
        `The relations in the data of \`create\`. A required field can be left out if its relation is given.`,
        (name) => `type ${name} = ${createRelations(named, relations, models)};`,
      );
    }
    declare(
      `${base}CreateData`,
      `The data of \`create\`: a new row of \`${model.name}\`, and what is written through its relations.`,
      (name) =>
        references.length > 0
          ? `type ${name} = Omit<${names.create}, ${fieldUnion(fieldsOf(references))}> & ${base}CreateRelations;`
          : `interface ${name} extends ${names.create} {\n${optionalMembers(relations, models).join("\n")}\n}`,
    );
    declare(
      `${base}UpdateData`,
      `The data of \`update\`: changes of a row of \`${model.name}\`, and of rows to which its relations lead.`,
      (name) =>
        `interface ${name}${hasMembers(types.update) ? ` extends ${names.update}` : ""} {\n${changeMembers(named, relations, models).join("\n")}\n}`,
    );
  }
  for (const filled of filledFields(named, models)) {
    const within = nestedRelations(named, models, filled);
    const suffix = withoutFields(filled);
    const ofRelation = `of a row that a relation writes, which determines ${filled.join(", ")}.`;
    const omitted = [...filled, ...fieldsOf(requiredReferences(named, within, filled))];
    declare(`${base}Create${suffix}`, `The data ${ofRelation}`, (name) => {
      const fields = `Omit<${names.create}, ${fieldUnion(omitted)}>`;
      const also = createRelations(named, within, models, filled);
      return `type ${name} = ${also === "" ? fields : `${fields} & ${also}`};`;
    });
    declare(`${base}Update${suffix}`, `The changes ${ofRelation}`, (name) => {
      const fields = `Omit<${names.update}, ${fieldUnion(filled)}>`;
      const members = changeMembers(named, within, models);
      const also = members.length === 0 ? "" : ` & { ${members.join(" ")} }`;
      return `type ${name} = ${fields}${also};`;
    });
  }
  if (isTarget) {
    declare(
      `${base}Unique`,
      `Values that identify a row of \`${model.name}\`: those of its primary key or of a unique index.`,
      (name) => `type ${name} = ${uniqueText(named, types)};`,
    );
  }
  return declared;
}

/** Returns the references whose fields `create` requires, unless the relation is given. */
function requiredReferences(
  { model }: NamedModel,
  relations: readonly NestedRelation[],
  filled: readonly string[] = [],
): { readonly nested: NestedRelation; readonly fields: readonly string[] }[] {
  return relations.flatMap((nested) => {
    if (nested.relation.kind !== "belongsTo") return [];
    const fields = nested.relation.fields.filter((field) => !filled.includes(field));
    return fields.some((field) => !canLeaveOut(model, field)) ? [{ nested, fields }] : [];
  });
}

/** Returns the fields of references, without repetition. */
function fieldsOf(references: readonly { readonly fields: readonly string[] }[]): string[] {
  return [...new Set(references.flatMap(({ fields }) => fields))];
}

/** Returns names as a union of literals. */
function fieldUnion(fields: readonly string[]): string {
  return textOf(fields.map((field) => JSON.stringify(field)));
}

/** Returns the relations in the data of a new row as code. It is empty if there are none. */
function createRelations(
  named: NamedModel,
  relations: readonly NestedRelation[],
  models: readonly NamedModel[],
  filled: readonly string[] = [],
): string {
  const { model, names } = named;
  const required = requiredReferences(named, relations, filled);
  const references = required.map(({ nested, fields }) => {
    const name = propertyName(nested.name);
    const members = (isGiven: boolean) =>
      fields.map((field) => {
        const mark = isGiven && !canLeaveOut(model, field) ? "" : "?";
        const type = `${names.create}[${JSON.stringify(field)}]`;
        return `${propertyName(field)}${mark}: ${type}${isGiven ? "" : " | undefined"};`;
      });
    const operations = newRow(nested, models);
    return `(| { ${members(true).join(" ")} ${name}?: undefined } | { ${members(false).join(" ")} ${name}: ${operations} })`;
  });
  const isRequired = (relation: NestedRelation) =>
    required.some(({ nested }) => nested === relation);
  const others = optionalMembers(
    relations.filter((relation) => !isRequired(relation)),
    models,
  );
  return [...references, ...(others.length === 0 ? [] : [`{ ${others.join(" ")} }`])].join(" & ");
}

function optionalMembers(
  relations: readonly NestedRelation[],
  models: readonly NamedModel[],
): string[] {
  return relations.map(
    (nested) => `${propertyName(nested.name)}?: ${newRow(nested, models)} | undefined;`,
  );
}

function changeMembers(
  named: NamedModel,
  relations: readonly NestedRelation[],
  models: readonly NamedModel[],
): string[] {
  return relations.map(
    (nested) => `${propertyName(nested.name)}?: ${changedRow(named, nested, models)} | undefined;`,
  );
}

/**
 * Returns the types that the operations of a relation have: `PostCreate, PostUpdate, PostUnique`.
 */
function dataNames({ relation, target }: NestedRelation, models: readonly NamedModel[]) {
  const { base } = target.names;
  const unique = `${base}Unique`;
  if (relation.kind === "hasMany" || relation.kind === "hasOne") {
    const suffix = withoutFields(relation.fields);
    return { create: `${base}Create${suffix}`, update: `${base}Update${suffix}`, unique };
  }
  const create = createDataName(target, models);
  return { create, update: updateDataName(target, models), unique };
}

function newRow(nested: NestedRelation, models: readonly NamedModel[]): string {
  const { create, unique } = dataNames(nested, models);
  const { kind } = nested.relation;
  const isToMany = kind === "hasMany" || kind === "manyToMany";
  return `${isToMany ? "NestedRows" : "NestedRow"}<${create}, ${unique}>`;
}

function changedRow(
  { names }: NamedModel,
  nested: NestedRelation,
  models: readonly NamedModel[],
): string {
  const { create, update, unique } = dataNames(nested, models);
  const { relation, target } = nested;
  const data = `${create}, ${update}, ${unique}`;
  if (relation.kind === "manyToMany") return `NestedRowsChange<${data}>`;
  const fields = fieldUnion(relation.fields);
  if (relation.kind === "belongsTo") return `NestedRowChange<${data}, ${names.row}[${fields}]>`;
  const reference = `${target.names.row}[${fields}]`;
  return relation.kind === "hasOne"
    ? `NestedRowChange<${data}, ${reference}, true>`
    : `NestedRowsChange<${data}, ${reference}>`;
}

function uniqueText(named: NamedModel, types: ModelTypes): string {
  const { model, names } = named;
  const indexes = model.indexes.filter(
    ({ unique, each, where, isHidden }) =>
      unique && !isHidden && each === undefined && where === undefined,
  );
  const keys = [
    primaryKeySubject(named, types).fields,
    ...indexes.map((index) => keyFields(index, names, types)),
  ];
  const members = keys.map((fields) => {
    const values = fields.map(({ name, type }) => `${propertyName(name)}: ${type};`);
    return `{ ${values.join(" ")} }`;
  });
  return [...new Set(members)].join(" | ");
}
