import type { NamedModel } from "../project/models/model-names.js";
import { propertyName } from "../types/identifiers.js";

/**
 * Returns the computed fields of a model as properties of the interface of its rows. Only the
 * compiler knows what the functions return, so their types refer to the model.
 */
export function computedMembers({ model, names }: NamedModel): string[] {
  return [...model.computed.keys()].map(
    (field) => `${propertyName(field)}: ${valueType(names.model, field)};`,
  );
}

/** Returns the types of the computed fields, which the index signature of a row must include. */
export function computedTypes({ model, names }: NamedModel): string[] {
  return [...model.computed.keys()].map((field) => valueType(names.model, field));
}

function valueType(modelName: string, field: string): string {
  return `ComputedValue<typeof ${modelName}, ${JSON.stringify(field)}>`;
}
