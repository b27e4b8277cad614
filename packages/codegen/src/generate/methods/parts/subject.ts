import type { CompiledIndex, CompiledModel } from "@keywright/orm/codegen";
import { NameUnusableError } from "../../../errors/codegen-errors.js";
import type { ModelNames, NamedModel } from "../../../project/models/model-names.js";
import { pascalCase } from "../../../types/identifiers.js";
import { keyType, type ModelTypes } from "../../../types/model-types.js";
import { fieldList, joinWithAnd } from "./field-list.js";
import { type KeyField, keyFields } from "./index-conditions.js";
import { fieldsObject, parameterNames } from "./parameter-names.js";
import type { WriteData } from "./upsert-data.js";

/** An index or the primary key, and everything that its methods are written from. */
export interface Subject {
  readonly model: CompiledModel;
  readonly names: ModelNames;
  readonly types: ModelTypes;
  readonly data: WriteData;
  /** Undefined for the primary key. */
  readonly index: CompiledIndex | undefined;
  /** The part of the method names after `findBy`. */
  readonly suffix: string;
  readonly fields: readonly KeyField[];
  readonly parameters: readonly string[];
}

export function indexSubject(
  { model, names }: NamedModel,
  index: CompiledIndex,
  types: ModelTypes,
  data: WriteData = plainData(names),
): Subject {
  const fields = keyFields(index, names, types);
  const owner = `index ${index.name} of model ${model.name}`;
  const parameters = parameterNames(index.fields, owner, index.each);
  const suffix = methodSuffix(model, index);
  return { model, names, types, data, index, suffix, fields, parameters };
}

/** The data of a model without relations. */
function plainData({ create, update }: ModelNames): WriteData {
  return { create, update, references: [] };
}

export function primaryKeySubject({ model, names }: NamedModel, types: ModelTypes): Subject {
  const owner = `the primary key of model ${JSON.stringify(model.name)}`;
  const parameters = parameterNames(model.primaryKey, owner);
  const fields = model.primaryKey.map((name) => {
    return { name, type: keyType(types.row, name, names.row) };
  });
  const suffix = model.primaryKey.map(pascalCase).join("And");
  return {
    model,
    names,
    types,
    data: plainData(names),
    index: undefined,
    suffix,
    fields,
    parameters,
  };
}

/** Returns one value for each field, as parameters and as the beginning of a query. */
export function exactValues({ index, fields, parameters }: Subject): {
  readonly declarations: readonly string[];
  readonly query: string;
} {
  return {
    declarations: fields.map(({ type }, position) => `${parameters[position]}: ${type}`),
    query: `${indexOption(index)}where: ${fieldsObject(namesOf(fields), parameters)}`,
  };
}

/**
 * Returns the parameter of a list: a condition on one field, or an object with conditions on
 * several fields.
 */
export function listedRows({ index, suffix, names, fields, parameters }: Subject): {
  /** The kinds of conditions that the parameter can be. */
  readonly conditions: string;
  readonly parameter: string;
  readonly query: string;
} {
  const [field] = fields;
  if (fields.length > 1 || field === undefined) {
    return {
      conditions:
        "for each field a value or several values, `{ in: [...] }`. The last fields can be left out, and the last condition can be a range",
      parameter: `where: ${conditionsName(names, suffix)}`,
      query: `${indexOption(index)}where`,
    };
  }
  return {
    conditions: "a value, several values, `{ in: [...] }`, or a range",
    parameter: `${parameters[0]}: Condition<${field.type}>`,
    query: `${indexOption(index)}where: ${fieldsObject(namesOf(fields), parameters)}`,
  };
}

/** Returns the fields for a comment. An array is described by its elements. */
export function describeFields({ fields, index }: Subject): string {
  if (index?.each === undefined) return fieldList(namesOf(fields));
  const texts = fields.map(({ name }) => `\`${name}\``);
  const [array = ""] = texts.splice(index.each, 1);
  return joinWithAnd([...texts, `element of ${array}`]);
}

/** Returns the fields that rows have: no elements of an array, and nothing that is computed. */
export function plainFields({ fields, index }: Subject): readonly KeyField[] {
  if (index === undefined) return fields;
  return fields.filter((_, at) => index.each !== at && index.parts[at]?.compute === undefined);
}

/** Returns the name of the type of conditions on several fields: `UserByTeamAndScore`. */
export function conditionsName({ base }: ModelNames, suffix: string): string {
  return `${base}By${suffix}`;
}

/** Returns the errors of a method that needs an index. */
export function notReady({ index }: Subject): string[] {
  if (index === undefined) return [];
  return [`{IndexNotReadyError} if \`${index.name}\` is not built yet.`];
}

export function notReadyInStream({ index }: Subject): string[] {
  if (index === undefined) return [];
  return [`{IndexNotReadyError} in the stream, if \`${index.name}\` is not built yet.`];
}

/** Returns what a comment says about the rows of an index and about its values. */
export function indexRemarks({ index }: Subject): string[] {
  if (index === undefined) return [];
  const normalized = index.parts
    .filter((part) => part.normalize !== undefined)
    .map(({ field }) => field);
  const verb = normalized.length === 1 ? "is" : "are";
  return [
    ...(index.where === undefined ? [] : ["The index holds only some of the rows."]),
    ...(normalized.length === 0
      ? []
      : [`The ${fieldList(normalized)} ${verb} normalized as in the index.`]),
  ];
}

function namesOf(fields: readonly KeyField[]): string[] {
  return fields.map(({ name }) => name);
}

function indexOption(index: CompiledIndex | undefined): string {
  return index === undefined ? "" : `index: ${JSON.stringify(index.name)}, `;
}

/** `byCityId` → `CityId`. */
function methodSuffix(model: CompiledModel, index: CompiledIndex): string {
  const name = pascalCase(index.name);
  if (name === "") {
    throw new NameUnusableError({
      givenName: index.name,
      at: `an index of model ${JSON.stringify(model.name)}`,
    });
  }
  return /^By(?=[^\p{Ll}])/u.test(name) ? name.slice(2) : name;
}
