import type { NamedModel } from "../project/model-names.js";
import { referenceWithin } from "../types/reference.js";
import { isKeyTypeText } from "./element-type.js";

/** The part of an index that a function makes of a row. There is at most one in each. */
export interface ComputedPart {
  /** The name of the index, which is that of the part too. */
  readonly index: string;
  /** The type of its values as a reference to the function, of an array that of its elements: neither null nor undefined. */
  readonly reference: string;
}

export function computedParts({ model, definition, names }: NamedModel): ComputedPart[] {
  return model.indexes.flatMap(({ name, parts, each }) => {
    const position = parts.findIndex(({ compute }) => compute !== undefined);
    if (position < 0) return [];
    const isList = Array.isArray(definition.indexes[name]?.key);
    const place = ["key", ...(isList ? [String(position)] : [])];
    const made = `ReturnType<${referenceWithin(`typeof ${names.model}.indexes`, name, ...place)}>`;
    const values = each === position ? `NonNullable<${made}>[number]` : made;
    return [{ index: name, reference: `NonNullable<${values}>` }];
  });
}

/** What is written for a computed part of which the compiler says this type; undefined where that says nothing. */
export function computedType({ reference }: ComputedPart, type: string): string | undefined {
  if (["any", "unknown", "never", "{}"].includes(type)) return undefined;
  return isKeyTypeText(type) ? type : reference;
}
