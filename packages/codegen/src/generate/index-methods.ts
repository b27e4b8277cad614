import type { CompiledIndex, CompiledModel } from "@keywright/orm";
import { NameUnusableError } from "../errors/codegen-errors.js";
import { pascalCase, propertyName } from "../schema/identifiers.js";
import { keyType, type ModelTypes } from "../schema/model-types.js";
import { fieldList } from "./field-list.js";
import type { Method } from "./method.js";
import type { ModelNames } from "./model-names.js";
import { parameterNames } from "./parameter-names.js";

/** The methods that read through an index: `findByEmail` where it is unique, and `listByEmail`. */
export function indexMethods(
  model: CompiledModel,
  index: CompiledIndex,
  names: ModelNames,
  types: ModelTypes,
): Method[] {
  const suffix = methodSuffix(model, index);
  const fields = index.parts.map(({ field }, position) => ({
    name: field,
    type: partType(index, position, names, types),
  }));
  const parameters = parameterNames(index.fields, `index ${index.name} of model ${model.name}`);
  const list = listMethod(index, suffix, names, fields, parameters);
  if (!index.unique) return [list];
  const find: Method = {
    name: `findBy${suffix}`,
    description: [
      `The row with this ${fieldList(index.fields)}, null where there is none.`,
      ...normalization(index),
      "Two reads.",
    ].join(" "),
    errors: [notReady(index)],
    parameters: fields.map(({ type }, position) => `${parameters[position]}: ${type}`),
    result: `${names.row} | null`,
    call: `findByIndex(${JSON.stringify(index.name)}, [${parameters.join(", ")}])`,
  };
  return [find, list];
}

/** A field of an index and the type of its values. */
interface KeyField {
  readonly name: string;
  readonly type: string;
}

/** The type of the values that a part of an index's key is looked up by. */
function partType(
  index: CompiledIndex,
  position: number,
  names: ModelNames,
  types: ModelTypes,
): string {
  const { field = "", compute } = index.parts[position] ?? {};
  // What a function makes of a row is known to the compiler alone.
  if (compute !== undefined) return "KeyValue";
  if (index.each !== position) return keyType(types.row, field, names.row);
  return `NonNullable<${names.row}[${JSON.stringify(field)}]>[number]`;
}

function listMethod(
  index: CompiledIndex,
  suffix: string,
  names: ModelNames,
  fields: readonly KeyField[],
  parameters: readonly string[],
): Method {
  const [field] = fields;
  const isCompound = fields.length > 1 || field === undefined;
  const which = isCompound
    ? `with this ${fieldList(index.fields)}: values for the first of them, the last of which may be bounds`
    : `with this ${fieldList(index.fields)}, or within these bounds`;
  const values = isCompound
    ? fields.map(({ name }) => memberAccess("where", name)).join(", ")
    : parameters[0];
  return {
    name: `listBy${suffix}`,
    description: [
      `A page of the rows ${which}; \`{}\` for every row that the index holds. In the order of the index.`,
      ...normalization(index),
      "Two reads for each row: its index entry and the row itself.",
    ].join(" "),
    errors: [
      notReady(index),
      "{InvalidCursorError} for a cursor of another list.",
      "{RangeError} where `take` is not a positive integer.",
    ],
    parameters: [
      isCompound ? `where: ${whereType(fields)}` : `${parameters[0]}: ${orRange(field.type)}`,
      "options?: ListOptions",
    ],
    result: `Page<${names.row}>`,
    call: `listByIndex(${JSON.stringify(index.name)}, [${values}], options)`,
  };
}

/** Values for the first fields of a compound index, then one value or range: one alternative for each field to end at. */
function whereType(fields: readonly KeyField[]): string {
  const alternatives = fields.map((last, position) => {
    const members = fields.map(({ name, type }, at) => {
      const property = propertyName(name);
      if (at < position) return `${property}: ${type};`;
      if (at > position) return `${property}?: undefined;`;
      // A value alone for any but the last field is the next alternative, with no condition on the fields behind it.
      const isLast = position === fields.length - 1;
      return `${property}?: ${isLast ? orRange(last.type) : `RangeFilter<${last.type}>`} | undefined;`;
    });
    return `{ ${members.join(" ")} }`;
  });
  return alternatives.join(" | ");
}

function orRange(type: string): string {
  return `${type} | RangeFilter<${type}>`;
}

function memberAccess(object: string, member: string): string {
  const property = propertyName(member);
  return property === member ? `${object}.${member}` : `${object}[${property}]`;
}

function normalization({ fields, normalize }: CompiledIndex): string[] {
  return normalize === undefined ? [] : [`The ${fieldList(fields)} is normalized as in the index.`];
}

function notReady(index: CompiledIndex): string {
  return `{IndexNotReadyError} where \`${index.name}\` is not built yet.`;
}

/** `byCityId` → `CityId`. */
function methodSuffix(model: CompiledModel, index: CompiledIndex): string {
  const name = pascalCase(index.name);
  if (name === "") {
    throw new NameUnusableError(index.name, `an index of model ${JSON.stringify(model.name)}`);
  }
  return /^By(?=[^\p{Ll}])/u.test(name) ? name.slice(2) : name;
}
