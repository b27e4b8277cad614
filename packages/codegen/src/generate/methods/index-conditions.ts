import type { CompiledIndex } from "@keywright/orm";
import { elementType } from "../../infer/element-type.js";
import type { ModelNames } from "../../project/model-names.js";
import { textOf } from "../../types/alternatives.js";
import { propertyName } from "../../types/identifiers.js";
import { keyType, type ModelTypes } from "../../types/model-types.js";

/** A field of an index and the type of its values. */
export interface KeyField {
  readonly name: string;
  readonly type: string;
}

/** The fields of an index with the types of the values that rows are looked up by: of an array the type of its elements. */
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

/** What one field of a list may be: a value, one of several, or a value within bounds. */
export function conditionOn(type: string): string {
  return `Condition<${type}>`;
}

/**
 * What a list by several fields takes: values for the first fields, then one condition. There is one alternative for each
 * field to end at.
 */
export function conditionsOn(fields: readonly KeyField[]): string {
  const alternatives = fields.map((_, last) => {
    const members = fields.map(({ name, type }, position) => {
      const property = propertyName(name);
      if (position < last) return `${property}: ${textOf([type, `InFilter<${type}>`])};`;
      if (position > last) return `${property}?: never;`;
      return `${property}?: ${conditionOn(type)};`;
    });
    return `{ ${members.join(" ")} }`;
  });
  return textOf(alternatives);
}
