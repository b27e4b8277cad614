import { ModelDefinitionError } from "../../errors/schema-errors.js";
import { assertFields } from "../assert-definition.js";
import { canBeAbsent } from "../fields/field-schema.js";
import { canBeInKey } from "../fields/key-kinds.js";
import type { AnyIndexDefinition } from "../indexes/index-definition.js";
import type { Model } from "../model.js";
import { type SummedField, summedField } from "./summed-field.js";

/**
 * Compiles the `sum` of an index or of a model.
 *
 * @param at the place of the index in the definition of the model. Empty for the model itself.
 * @throws {ModelDefinitionError} if a field cannot be summed.
 */
export function compileSums(
  model: Model,
  at: string,
  sum: AnyIndexDefinition["sum"] = [],
): SummedField[] {
  const place = placeIn(at, "sum");
  if (!Array.isArray(sum)) throw new ModelDefinitionError(model.name, place, "it must be a list");
  const names = sum.map((one) => (typeof one === "string" ? one : one?.decimal));
  assertFields(model, place, names);
  return sum.map((one, position) => {
    const schema = model.schema.shape[names[position]!]!;
    return summedField(one, schema, canBeAbsent(schema), (reason) => {
      throw new ModelDefinitionError(model.name, place, reason);
    });
  });
}

/**
 * Checks the `min` and `max` of an index or of a model. Returns their fields. `compileModel` adds
 * the names of the indexes.
 *
 * @throws {ModelDefinitionError} if no key can hold the values of a field.
 */
export function compileExtremes(
  model: Model,
  at: string,
  { min = [], max = [] }: Extremes,
  groupedBy: readonly string[] = [],
): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [option, list] of Object.entries({ min, max })) {
    const place = placeIn(at, option);
    assertFields(model, place, list);
    for (const field of list) {
      const fail = (reason: string): never => {
        throw new ModelDefinitionError(model.name, place, `${JSON.stringify(field)} ${reason}`);
      };
      if (!canBeInKey(model.schema.shape[field]!)) fail("has values that a key cannot hold");
      if (groupedBy.includes(field))
        fail("is in the key, so all rows of a key have the same value");
      fields.set(field, "");
    }
  }
  return fields;
}

interface Extremes {
  readonly min?: readonly string[] | undefined;
  readonly max?: readonly string[] | undefined;
}

function placeIn(at: string, option: string): string {
  return at === "" ? option : `${at}.${option}`;
}
