import type { NamedModel } from "../project/models/model-names.js";
import { referenceWithin } from "../types/place.js";
import { isKeyTypeText } from "./element-type.js";

/** The part of an index that a function computes from a row. An index has at most one. */
export interface ComputedPart {
  /** The name of the index, which is also the name of the part. */
  readonly index: string;
  /** The type of its values, or elements, as a reference, without null and undefined. */
  readonly reference: string;
}

export function computedParts({ model, definition, names }: NamedModel): ComputedPart[] {
  return model.indexes.flatMap(({ name, parts, each, isHidden }) => {
    if (isHidden) return [];
    const position = parts.findIndex(({ compute }) => compute !== undefined);
    if (position < 0) return [];
    const isList = Array.isArray(definition.indexes[name]?.key);
    const place = ["key", ...(isList ? [String(position)] : [])];
    const returnType = `ReturnType<${referenceWithin(`typeof ${names.model}.indexes`, name, ...place)}>`;
    const values = each === position ? `NonNullable<${returnType}>[number]` : returnType;
    return [{ index: name, reference: `NonNullable<${values}>` }];
  });
}

/** Returns undefined if the type that the compiler reports contains no information. */
export function computedType({ reference }: ComputedPart, type: string): string | undefined {
  if (["any", "unknown", "never", "{}"].includes(type)) return undefined;
  return isKeyTypeText(type) ? type : reference;
}
