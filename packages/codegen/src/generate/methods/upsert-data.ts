import type { CompiledModel } from "@keywright/orm";
import type { ModelNames } from "../../project/model-names.js";
import { type Alternatives, textOf, unionOf, without } from "../../types/alternatives.js";
import { propertyName } from "../../types/identifiers.js";
import { type ModelTypes, modelTypes } from "../../types/model-types.js";
import type { InterfaceType, Property } from "../../types/object-type.js";
import type { Schema } from "../../types/writer.js";
import { isMade } from "./is-made.js";

/** The data of an upsert. */
export interface UpsertData {
  /** As a parameter: `data: { create: …; update: … }`. */
  readonly parameter: string;
  /** The fields of the key that `create` may leave out: they get the values that name the row. */
  readonly filledIn: readonly string[];
}

/** @param key the fields that name the row: `create` may leave out those that are stored as they are given. */
export function upsertData(
  model: CompiledModel,
  names: ModelNames,
  types: ModelTypes,
  key: readonly string[],
): UpsertData {
  const asGiven = fieldsStoredAsGiven(model, names, types);
  const { properties, rest } = types.create;
  const fields = properties.filter(({ name }) => key.includes(name) && asGiven.has(name));
  // `Omit` leaves nothing of an object with further properties.
  const required = rest.length > 0 ? [] : fields.filter(({ isOptional }) => !isOptional);
  const create = required.length === 0 ? names.create : createWithout(names, required);
  const filledIn = fields.filter((field) => field.isOptional || required.includes(field));
  return {
    parameter: `data: { create: ${create}; update: ${names.update} }`,
    filledIn: key.filter((name) => filledIn.some((field) => field.name === name)),
  };
}

/** Longer types, in characters, are named by their field. */
const longest = 40;

function createWithout({ create }: ModelNames, fields: readonly Property[]): string {
  const omitted = textOf(fields.map(({ name }) => JSON.stringify(name)));
  const members = fields.map(({ name, type }) => {
    const isSpelledOut = !type.some(isReference) && textOf(type).length <= longest;
    const values = isSpelledOut ? type : [`${create}[${JSON.stringify(name)}]`];
    return `${propertyName(name)}?: ${textOf(unionOf(values, ["undefined"]))}`;
  });
  return `Omit<${create}, ${omitted}> & { ${members.join("; ")} }`;
}

/** The fields for which a row can be created from what is stored in them: their two types differ in no more than a brand. */
function fieldsStoredAsGiven(
  model: CompiledModel,
  names: ModelNames,
  { row, create }: ModelTypes,
): ReadonlySet<string> {
  // As schemas tell them at run time: without brands.
  const plain = modelTypes(model, names);
  const isStoredAsGiven = (name: string) => {
    if (isMade(model.schema.shape[name])) return false;
    if (isSame(presentType(row, name), presentType(create, name))) return true;
    if (!presentType(row, name).some(isReference)) return false;
    return (
      isSame(presentType(plain.row, name), presentType(plain.create, name)) ||
      isKept(model.schema.shape[name])
    );
  };
  return new Set(create.properties.map(({ name }) => name).filter(isStoredAsGiven));
}

/** The type of a field that is there: neither null nor undefined, which are in no key. */
function presentType({ properties }: InterfaceType, field: string): Alternatives {
  const { type = [] } = properties.find(({ name }) => name === field) ?? {};
  return without(without(type, "null"), "undefined");
}

function isSame(a: Alternatives, b: Alternatives): boolean {
  return a.length === b.length && a.every((member) => b.includes(member));
}

function isReference(member: string): boolean {
  return member.startsWith("z.");
}

/** Schemas that take values as they are, though their types may not be spelled out. */
const keptKinds: ReadonlySet<string> = new Set(["custom", "enum", "literal", "template_literal"]);

/** Whether a schema, perhaps an optional one or the like, is one that changes no value. */
function isKept(schema: Schema | undefined): boolean {
  if (schema === undefined) return false;
  const { innerType, type } = schema._zod.def as { innerType?: Schema; type: string };
  return innerType === undefined ? keptKinds.has(type) : isKept(innerType);
}
