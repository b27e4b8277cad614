import type { CompiledModel } from "@keywright/orm";
import { TypeInexpressibleError } from "../errors/codegen-errors.js";
import { textOf } from "./alternatives.js";
import { type InterfaceType, objectText, restType } from "./object-type.js";
import type { Place } from "./place.js";
import { referenceToModel } from "./reference.js";
import { reservedNames } from "./reserved-names.js";
import { type NamedType, TypeNames } from "./type-names.js";
import { type SpelledField, TypeWriter } from "./type-writer.js";
import { updateType } from "./update-type.js";

/** The types of a model's rows. */
export interface ModelTypes {
  /** A row as it is stored and returned. */
  readonly row: InterfaceType;
  /** What `create` takes. */
  readonly create: InterfaceType;
  /** What `update` takes. */
  readonly update: InterfaceType;
  /** Types within them that contain themselves. */
  readonly named: readonly NamedType[];
  /** Whether one of the types refers to the model, and to Zod. */
  readonly hasReferences: boolean;
  /** The fields of rows and of what they are created from that are spelled out, those within others too. */
  readonly fields: readonly SpelledField[];
  /** The types of what functions make of rows for indexes, by the index: those that are known. */
  readonly computed: ReadonlyMap<string, string>;
}

/** How types are written. */
export interface TypeOptions {
  /** References that stand instead of types, though these could be spelled out. */
  readonly referred?: ReadonlySet<string> | undefined;
  /** What is written for `any`: by default `unknown`. */
  readonly any?: "any" | "unknown";
  /** What the compiler says of the functions in indexes. */
  readonly computed?: ReadonlyMap<string, string> | undefined;
}

/**
 * The types of a model's rows, spelled out from its schema.
 *
 * @param names.model the model's, where the types are declared.
 * @param names.base begins the names of types: `City` for `CityRow`.
 * @throws {TypeInexpressibleError} for a catchall that not all fields fit, and for a schema that is not there or has no end.
 */
export function modelTypes(
  model: CompiledModel,
  names: { readonly model: string; readonly base: string },
  { referred = new Set(), any = "unknown", computed = new Map() }: TypeOptions = {},
): ModelTypes {
  const { base } = names;
  const place: Place = { path: [], reference: referenceToModel(names.model) };
  const own = ["Row", "Create", "Update", "Repository", "Input"].map((it) => base + it);
  const typeNames = new TypeNames([...reservedNames, names.model, ...own]);
  const options = { model: model.name, baseName: base, names: typeNames, referred, any };
  const output = new TypeWriter({ side: "output", ...options });
  const input = new TypeWriter({ side: "input", ...options });
  const row = interfaceType(model, output, place, `${base}Row`);
  const given = interfaceType(model, input, place, `${base}Input`);
  const named = [...typeNames.declared];
  if (input.isRecursive) {
    named.push({ name: `${base}Input`, type: [objectText(given.properties, given.rest)] });
  }
  const [id] = model.primaryKey;
  const create = given.properties.map((property) =>
    model.generatesId && property.name === id ? { ...property, isOptional: true } : property,
  );
  const update = updateType(given, row, model.primaryKey, {
    create: `${base}Create`,
    row: `${base}Row`,
  });
  return {
    row,
    create: { ...given, properties: create },
    update,
    named,
    hasReferences: output.hasReferences || input.hasReferences,
    fields: [...output.fields, ...input.fields],
    computed,
  };
}

/** The type of a field's values in a key, as text: neither null nor undefined, for such a row is in no index. */
export function keyType(row: InterfaceType, field: string, rowName: string): string {
  const property = row.properties.find(({ name }) => name === field);
  const { type = [], isOptional = false } = property ?? {};
  const present = type.filter((member) => member !== "null" && member !== "undefined");
  // Whether a type that is referred to takes in null does not show.
  const isSpelledOut = present.every((member) => !member.startsWith("z."));
  if (isSpelledOut && textOf(present).length <= longestKeyType) return textOf(present);
  const ofRow = `${rowName}[${JSON.stringify(field)}]`;
  const isPresent = isSpelledOut && !isOptional && present.length === type.length;
  return isPresent ? ofRow : `NonNullable<${ofRow}>`;
}

/** Longer types are named by their row's field where they are repeated, in characters. */
const longestKeyType = 40;

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
  throw new TypeInexpressibleError(
    model.name,
    "catchall",
    "an interface cannot have further properties of a type that its own do not all have: use z.looseObject",
  );
}
