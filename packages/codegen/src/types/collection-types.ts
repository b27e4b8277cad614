import { type Alternatives, textOf } from "./alternatives.js";
import { isOptional } from "./is-optional.js";
import { type Place, placeWithin, unreferablePlace } from "./place.js";
import type { Definition, Writer, ZodSchema } from "./writer.js";

/** Returns undefined if one of the types cannot be written. */
export function typesOf(
  writer: Writer,
  schemas: readonly ZodSchema[],
  place: Place,
): readonly Alternatives[] | undefined {
  const types: Alternatives[] = [];
  for (const schema of schemas) {
    const type = writer.write(schema, unreferablePlace(place));
    if (type === undefined) return undefined;
    types.push(type);
  }
  return types;
}

export function arrayType(
  writer: Writer,
  def: Definition<"array">,
  place: Place,
): Alternatives | undefined {
  const element = writer.write(def.element, placeWithin(place, "element"));
  return element && [`(${textOf(element)})[]`];
}

export function tupleType(
  writer: Writer,
  def: Definition<"tuple">,
  place: Place,
): Alternatives | undefined {
  const items = typesOf(writer, def.items, place);
  const rest = typesOf(writer, def.rest === null ? [] : [def.rest], place);
  if (items === undefined || rest === undefined) return undefined;
  const required = requiredItems(writer, def);
  const members = [
    ...items.map((item, position) => (position < required ? textOf(item) : `(${textOf(item)})?`)),
    ...rest.map((item) => `...(${textOf(item)})[]`),
  ];
  return [`[${members.join(", ")}]`];
}

/** Returns the minimum number of items of a tuple. Only items at its end can be left out. */
export function requiredItems(writer: Writer, def: Definition<"tuple">): number {
  return def.items.findLastIndex((item) => !isOptional(item, writer.side)) + 1;
}

export function recordType(
  writer: Writer,
  def: Definition<"record">,
  place: Place,
): Alternatives | undefined {
  const types = typesOf(writer, [def.keyType, def.valueType], place);
  const [key = [], value = []] = types ?? [];
  if (types === undefined) return undefined;
  const [keyType] = key;
  const isPartial = def.partial === true;
  if (!isPartial && key.length === 1 && (keyType === "string" || keyType === "number")) {
    return [`{ [key: ${keyType}]: ${textOf(value)} }`];
  }
  const mayLackKeys = isPartial || (writer.side === "input" && isOptional(def.valueType, "input"));
  return [`{ [key in ${textOf(key)}]${mayLackKeys ? "?" : ""}: ${textOf(value)} }`];
}

/** Returns `Map<…>`, `Set<…>` and similar types. */
export function collectionType(
  writer: Writer,
  name: string,
  members: readonly ZodSchema[],
  place: Place,
): Alternatives | undefined {
  const types = typesOf(writer, members, place);
  return types && [`${name}<${types.map(textOf).join(", ")}>`];
}
