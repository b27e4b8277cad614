import type { CompiledIndex } from "@keywright/orm/codegen";
import { elementType } from "../../../infer/element-type.js";
import type { ModelNames } from "../../../project/models/model-names.js";
import { textOf } from "../../../types/alternatives.js";
import { propertyName } from "../../../types/identifiers.js";
import { keyType, type ModelTypes } from "../../../types/model-types.js";

/** A field of an index and the type of its values. */
export interface KeyField {
  readonly name: string;
  readonly type: string;
}

/**
 * Returns the fields of an index, with the types of the values by which rows are looked up. For an
 * array it is the type of its elements.
 */
export function keyFields(index: CompiledIndex, names: ModelNames, types: ModelTypes): KeyField[] {
  return index.parts.map(({ field, compute }, position) => {
    if (compute !== undefined)
      return { name: field, type: types.computed.get(index.name) ?? "KeyValue" };
    const type =
      index.each === position
        ? elementType(types.row, field, names.row)
        : keyType(types.row, field, names.row);
    return { name: field, type };
  });
}

/**
 * Returns the type that a list by several fields takes: values for the first fields, then one
 * condition. The union has one alternative for each field that can be the last.
 */
export function conditionsOn(fields: readonly KeyField[]): string {
  const alternatives = fields.map((_, last) => {
    const members = fields.map(({ name, type }, position) => {
      const property = propertyName(name);
      if (position < last) {
        const alternatives = [type, `EqualsFilter<${type}>`, `InFilter<${type}>`];
        return `${property}: ${textOf(alternatives)};`;
      }
      if (position > last) return `${property}?: never;`;
      return `${property}?: Condition<${type}>;`;
    });
    return `{ ${members.join(" ")} }`;
  });
  return textOf(alternatives);
}
