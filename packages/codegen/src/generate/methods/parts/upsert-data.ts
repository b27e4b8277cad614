import type { CompiledModel } from "@keywright/orm/codegen";
import type * as z from "zod";
import type { ModelNames } from "../../../project/models/model-names.js";
import {
  type Alternatives,
  isRepeatable,
  textOf,
  unionOf,
  withoutMember,
} from "../../../types/alternatives.js";
import { propertyName } from "../../../types/identifiers.js";
import { maxSchemaDepth } from "../../../types/is-optional.js";
import { type ModelTypes, modelTypes } from "../../../types/model-types.js";
import type { InterfaceType, Property } from "../../../types/object-type.js";
import type { ZodSchema } from "../../../types/writer.js";

/** The types of the data of writes of one row. */
export interface WriteData {
  readonly create: string;
  readonly update: string;
  /** The fields that `create` may leave out if it has the relation. */
  readonly references: readonly string[];
}

export interface UpsertData {
  /** The parameter as code: `data: { create: …; update: … }`. */
  readonly parameter: string;
  /**
   * The fields of the key that `create` may leave out. They get the values that identify the row.
   */
  readonly filledIn: readonly string[];
}

/**
 * Returns the data parameter of an upsert.
 *
 * @param key the fields that identify the row. `create` may leave out those that are stored as they
 * are passed in.
 */
export function upsertData(
  model: CompiledModel,
  names: ModelNames,
  types: ModelTypes,
  key: readonly string[],
  data: WriteData,
): UpsertData {
  const storedAsGiven = fieldsStoredUnchanged(model, names, types);
  const { properties, rest } = types.create;
  const fields = properties.filter(({ name }) => key.includes(name) && storedAsGiven.has(name));
  // `Omit` removes all known properties from a type that also has further properties.
  const required = rest.length > 0 ? [] : fields.filter(({ isOptional }) => !isOptional);
  const create = required.length === 0 ? data.create : createWithout(names, required, data);
  const filledIn = fields.filter((field) => field.isOptional || required.includes(field));
  return {
    parameter: `data: { create: ${create}; update: ${data.update} }`,
    filledIn: key.filter((name) => filledIn.some((field) => field.name === name)),
  };
}

function createWithout(
  { create: plain, base }: ModelNames,
  fields: readonly Property[],
  { create: whole, references }: WriteData,
): string {
  const names = fields.map(({ name }) => name);
  // `Omit` would merge the alternatives of required references, so these are added afterwards. A
  // reference within the key has its values already.
  const isOfReference = names.some((name) => references.includes(name));
  const create = references.length === 0 ? whole : plain;
  const added = references.length === 0 || isOfReference ? [] : references;
  const omitted = textOf([...names, ...added].map((name) => JSON.stringify(name)));
  const members = fields.map(({ name, type }) => {
    const isSpelledOut = !type.some(isReference) && isRepeatable(textOf(type));
    const values = isSpelledOut ? type : [`${create}[${JSON.stringify(name)}]`];
    return `${propertyName(name)}?: ${textOf(unionOf(values, ["undefined"]))}`;
  });
  const relations = added.length === 0 ? "" : ` & ${base}CreateRelations`;
  return `Omit<${create}, ${omitted}> & { ${members.join("; ")} }${relations}`;
}

/**
 * Returns the fields that are stored as they are passed in, so that a row can be created from a
 * stored value. The two types of such a field differ at most in a brand.
 */
function fieldsStoredUnchanged(
  model: CompiledModel,
  names: ModelNames,
  { row, create }: ModelTypes,
): ReadonlySet<string> {
  // The types that schemas show at run time have no brands.
  const plain = modelTypes(model, names);
  const isStoredUnchanged = (name: string) => {
    if (changesValue(model.schema.shape[name])) return false;
    if (isSame(presentType(row, name), presentType(create, name))) return true;
    if (!presentType(row, name).some(isReference)) return false;
    return (
      isSame(presentType(plain.row, name), presentType(plain.create, name)) ||
      keepsValues(model.schema.shape[name])
    );
  };
  return new Set(create.properties.map(({ name }) => name).filter(isStoredUnchanged));
}

/** Returns the type of a field without null and undefined, which are in no key. */
function presentType({ properties }: InterfaceType, field: string): Alternatives {
  const { type = [] } = properties.find(({ name }) => name === field) ?? {};
  return withoutMember(withoutMember(type, "null"), "undefined");
}

function isSame(a: Alternatives, b: Alternatives): boolean {
  return a.length === b.length && a.every((member) => b.includes(member));
}

function isReference(member: string): boolean {
  return member.startsWith("z.");
}

/** The kinds of schemas that never change a value, although their types may not be spelled out. */
const keptKinds: ReadonlySet<string> = new Set(["custom", "enum", "literal", "template_literal"]);

/** True if a schema never changes a value. Wrappers such as `optional` are ignored. */
function keepsValues(schema: ZodSchema | undefined): boolean {
  if (schema === undefined) return false;
  const { innerType, type } = schema._zod.def as { innerType?: ZodSchema; type: string };
  return innerType === undefined ? keptKinds.has(type) : keepsValues(innerType);
}

/**
 * True if a transform, a codec or a coercion in the schema can change the input value, even if the
 * type stays the same. The contents of objects and arrays are not examined.
 */
function changesValue(schema: ZodSchema | undefined, depth = 0): boolean {
  if (schema === undefined || depth > maxSchemaDepth) return false;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const changesWithin = (inner: ZodSchema | undefined) => changesValue(inner, depth + 1);
  if ("coerce" in def && def.coerce === true) return true;
  switch (def.type) {
    case "transform":
    case "success":
      return true;
    case "pipe":
      // The pipe of a codec contains the transform function itself.
      return "transform" in def || changesWithin(def.in) || changesWithin(def.out);
    case "union":
      return def.options.some(changesWithin);
    case "intersection":
      return changesWithin(def.left) || changesWithin(def.right);
    case "lazy":
      return changesWithin((schema as z.core.$ZodLazy)._zod.innerType);
    default:
      return "innerType" in def && changesWithin(def.innerType);
  }
}
