import { type Alternatives, isOpenType, textOf, unionOf } from "./alternatives.js";
import { descriptionOf, docComment } from "./doc-comment.js";
import { propertyName } from "./identifiers.js";
import { isOptional } from "./is-optional.js";
import { type Place, placeOfField, unreferablePlace } from "./place.js";
import type { Definition, Writer } from "./writer.js";

export interface Property {
  readonly name: string;
  readonly isOptional: boolean;
  readonly type: Alternatives;
  readonly description: string | undefined;
}

export interface InterfaceType {
  readonly properties: readonly Property[];
  /** The type of further properties. It has no members if there are no further properties. */
  readonly rest: Alternatives;
}

export function objectType(
  writer: Writer,
  def: Definition<"object">,
  place: Place,
): Alternatives | undefined {
  const properties = objectProperties(writer, def, place);
  if (properties === undefined) return undefined;
  const rest = restType(writer, def, properties, place);
  if (rest === undefined) return undefined;
  return [objectText(properties, rest)];
}

/** Returns an object type as text. `rest` is the result of {@link restType}. */
export function objectText(properties: readonly Property[], rest: Alternatives): string {
  if (properties.length === 0 && rest.length === 0) return "Record<string, never>";
  const members = [...properties.map(propertyText), ...restText(rest)];
  // The line break makes the formatter keep an object with comments on several lines.
  const isLong = properties.some(({ description }) => description !== undefined);
  return `{${isLong ? "\n" : " "}${members.join("\n")} }`;
}

/** Returns undefined if a property can be neither written nor referred to. */
export function objectProperties(
  writer: Writer,
  def: Definition<"object">,
  place: Place,
): readonly Property[] | undefined {
  const properties: Property[] = [];
  for (const [name, schema] of Object.entries(def.shape)) {
    const within = placeOfField(place, name);
    const type = writer.writeField(schema, within);
    if (type === undefined) return undefined;
    properties.push({
      name,
      isOptional: isOptional(schema, writer.side),
      type,
      description: descriptionOf(schema),
    });
  }
  return properties;
}

/**
 * Returns the type of the properties that an object may have in addition to those of its shape. It
 * has no members if the object may have no further properties.
 *
 * Returns undefined if the type cannot be written, for example because a property of the shape does
 * not have that type.
 */
export function restType(
  writer: Writer,
  def: Definition<"object">,
  properties: readonly Property[],
  place: Place,
): Alternatives | undefined {
  if (def.catchall === undefined) return [];
  const rest = writer.write(def.catchall, unreferablePlace(place));
  if (rest === undefined || rest.length === 0 || isOpenType(rest)) return rest;
  const isShared = properties.every(({ type, isOptional }) =>
    unionOf(type, isOptional ? ["undefined"] : []).every((member) => rest.includes(member)),
  );
  return isShared ? rest : undefined;
}

/** Returns a property as a member of an object type or an interface, after its comment. */
export function propertyText({ name, isOptional, type, description }: Property): string {
  const comment = docComment(description, 2);
  return `${comment}${propertyName(name)}${isOptional ? "?" : ""}: ${textOf(type)};`;
}

/** Returns the result of {@link restType} as members of an object type or an interface. */
export function restText(rest: Alternatives): string[] {
  return rest.length === 0 ? [] : [`[key: string]: ${textOf(rest)};`];
}
