import type * as z from "zod";
import { type Alternatives, textOf } from "./alternatives.js";
import { collectionType, requiredItems } from "./collection-types.js";
import type { Place } from "./place.js";
import type { Writer, ZodSchema } from "./writer.js";

/** Returns the type of a `readonly` schema. Returns undefined for rare kinds. */
export function readonlyType(
  writer: Writer,
  schema: ZodSchema,
  place: Place,
): Alternatives | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "array":
      return modified(writer, schema, place, (type) => `readonly ${type}`);
    case "tuple":
      // Zod infers an array for a readonly tuple that can be empty.
      if (requiredItems(writer, def) === 0) return undefined;
      return modified(writer, schema, place, (type) => `readonly ${type}`);
    case "object":
    case "record":
      return modified(writer, schema, place, (type) => `Readonly<${type}>`);
    case "map":
      return collectionType(writer, "ReadonlyMap", [def.keyType, def.valueType], place);
    case "set":
      return collectionType(writer, "ReadonlySet", [def.valueType], place);
    case "string":
    case "number":
    case "bigint":
    case "boolean":
    case "date":
    case "literal":
    case "enum":
      return writer.write(schema, place);
    default:
      return undefined;
  }
}

/** Returns undefined for types with names, because the modifier may not apply to them. */
function modified(
  writer: Writer,
  schema: ZodSchema,
  place: Place,
  modify: (text: string) => string,
): Alternatives | undefined {
  const type = writer.write(schema, place);
  return type === undefined || type.some((member) => writer.isName(member))
    ? undefined
    : [modify(textOf(type))];
}
