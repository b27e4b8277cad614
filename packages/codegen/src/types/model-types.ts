import type { CompiledModel } from "@keywright/orm/codegen";
import { TypeInexpressibleError } from "../errors/codegen-errors.js";
import { isRepeatable, textOf } from "./alternatives.js";
import { type InterfaceType, objectText, restType } from "./object-type.js";
import type { Place } from "./place.js";
import { type NamedType, reservedNames, TypeNames } from "./type-names.js";
import { type SpelledField, TypeWriter } from "./type-writer.js";
import { updateType } from "./update-type.js";

export interface ModelTypes {
  readonly row: InterfaceType;
  readonly create: InterfaceType;
  readonly update: InterfaceType;
  /** The types within these types that contain themselves and therefore need a name. */
  readonly named: readonly NamedType[];
  /** True if one of the types refers to the model's schema, and therefore to Zod. */
  readonly hasReferences: boolean;
  /** The fields of `row` and of the input type that are spelled out, including nested fields. */
  readonly fields: readonly SpelledField[];
  readonly computed: ReadonlyMap<string, string>;
}

/** The settings with which types are written. */
export interface TypeOptions {
  /** The references to write although the types could be spelled out. */
  readonly referred?: ReadonlySet<string> | undefined;
  readonly any?: "any" | "unknown";
  readonly computed?: ReadonlyMap<string, string> | undefined;
}

/**
 * Returns the types of a model's rows, spelled out from its schema.
 *
 * @param names.model the name under which the model is imported.
 * @param names.base the prefix of the names of types: `City` for `CityRow`.
 */
export function modelTypes(
  model: CompiledModel,
  names: { readonly model: string; readonly base: string },
  { referred = new Set(), any = "unknown", computed = new Map() }: TypeOptions = {},
): ModelTypes {
  const { base } = names;
  const place: Place = { path: [], reference: `typeof ${names.model}.schema` };
  const declaredNames = [
    "Row",
    "Create",
    "CreateData",
    "CreateRelations",
    "Update",
    "UpdateData",
    "Unique",
    "Repository",
    "Input",
  ].map((it) => base + it);
  const typeNames = new TypeNames([...reservedNames, names.model, ...declaredNames]);
  const options = { model: model.name, baseName: base, names: typeNames, referred, any };
  const output = new TypeWriter({ side: "output", ...options });
  const input = new TypeWriter({ side: "input", ...options });
  const row = interfaceType(model, output, place, `${base}Row`);
  const inputType = withoutCopies(model, interfaceType(model, input, place, `${base}Input`));
  const named = [...typeNames.declared];
  if (input.isRecursive) {
    named.push({ name: `${base}Input`, type: [objectText(inputType.properties, inputType.rest)] });
  }
  const [id] = model.primaryKey;
  const create = inputType.properties.map((property) =>
    model.generatesId && property.name === id ? { ...property, isOptional: true } : property,
  );
  const update = updateType(inputType, row, model.primaryKey, {
    create: `${base}Create`,
    row: `${base}Row`,
  });
  return {
    row,
    create: { ...inputType, properties: create },
    update,
    named,
    hasReferences: output.hasReferences || input.hasReferences,
    fields: [...output.fields, ...input.fields],
    computed,
  };
}

/** Leaves out the fields that relations copy, because data does not contain them. */
function withoutCopies({ copied }: CompiledModel, type: InterfaceType): InterfaceType {
  if (copied.size === 0) return type;
  return { ...type, properties: type.properties.filter(({ name }) => !copied.has(name)) };
}

/** Returns the type of a field's values in a key, without null and undefined. */
export function keyType(row: InterfaceType, field: string, rowName: string): string {
  const property = row.properties.find(({ name }) => name === field);
  const { type = [], isOptional = false } = property ?? {};
  const present = type.filter((member) => member !== "null" && member !== "undefined");
  // The text of a reference does not show if its type contains null.
  const isSpelledOut = present.every((member) => !member.startsWith("z."));
  if (isSpelledOut && isRepeatable(textOf(present))) return textOf(present);
  const fieldOfRow = `${rowName}[${JSON.stringify(field)}]`;
  const isPresent = isSpelledOut && !isOptional && present.length === type.length;
  return isPresent ? fieldOfRow : `NonNullable<${fieldOfRow}>`;
}

function interfaceType(
  model: CompiledModel,
  writer: TypeWriter,
  place: Place,
  name: string,
): InterfaceType {
  const { def } = model.schema._zod;
  const properties = writer.rowProperties(model.schema, place, name) ?? [];
  const rest = restType(writer, def, properties, place);
  if (rest !== undefined) return { properties, rest };
  throw new TypeInexpressibleError({
    model: model.name,
    path: "catchall",
    reason: "the type of the catchall does not include the types of all fields; use z.looseObject",
  });
}
