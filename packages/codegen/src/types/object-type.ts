import { type Alternatives, isOpenType, textOf, unionOf } from "./alternatives.js";
import { descriptionOf, docComment } from "./doc-comment.js";
import { propertyName } from "./identifiers.js";
import { isOptional } from "./is-optional.js";
import { type Place, placeOfField, unreferablePlace } from "./place.js";
import type { Definition, Writer } from "./writer.js";

/** A property of an object type. */
export interface Property {
  readonly name: string;
  readonly isOptional: boolean;
  readonly type: Alternatives;
  readonly description: string | undefined;
}

/** What an interface is made of. */
export interface InterfaceType {
  readonly properties: readonly Property[];
  /** The type of further properties; without members where there are none. */
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

/** An object type as text. `rest` is what {@link restType} says. */
export function objectText(properties: readonly Property[], rest: Alternatives): string {
  if (properties.length === 0 && rest.length === 0) return "Record<string, never>";
  const members = [...properties.map(propertyText), ...restText(rest)];
  // The line break keeps an object with comments from being put on one line.
  const isLong = properties.some(({ description }) => description !== undefined);
  return `{${isLong ? "\n" : " "}${members.join("\n")} }`;
}

/** The properties of a schema's shape; undefined where one can be neither written nor referred to. */
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
 * The type of what an object may have beside the properties of its shape, without members where it may have nothing;
 * undefined where it cannot be written, as where one of the properties is not of that type.
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

/** A property as a member of an object type or an interface, below its comment. */
export function propertyText({ name, isOptional, type, description }: Property): string {
  const comment = docComment(description, 2);
  return `${comment}${propertyName(name)}${isOptional ? "?" : ""}: ${textOf(type)};`;
}

/** What {@link restType} says, as members of an object type or an interface. */
export function restText(rest: Alternatives): string[] {
  return rest.length === 0 ? [] : [`[key: string]: ${textOf(rest)};`];
}
