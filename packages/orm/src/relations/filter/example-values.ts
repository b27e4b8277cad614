import type { CompiledModel } from "../../model/compiled-model.js";
import { kindOf, type ValueKind } from "../../query/plan/fields/value-kinds.js";

const examples: Readonly<Record<ValueKind, unknown>> = {
  string: "",
  number: 0,
  bigint: 0n,
  boolean: false,
  date: new Date(0),
  bytes: new Uint8Array(),
};

/**
 * Returns a value for each of some fields, of the kind of the field, to plan queries whose values
 * are those of rows that have not been read yet.
 */
export function exampleValues(
  { schema }: CompiledModel,
  fields: readonly string[],
): Record<string, unknown> {
  const values = fields.map((field) => {
    const type = schema.shape[field];
    const kind = type === undefined ? undefined : kindOf(type);
    return [field, kind === undefined ? "" : examples[kind]] as const;
  });
  return Object.fromEntries(values);
}
