import type { CompiledModel } from "@keywright/orm/codegen";
import type { ModelNames } from "../../../project/models/model-names.js";
import { propertyName } from "../../../types/identifiers.js";
import { keyType, type ModelTypes } from "../../../types/model-types.js";

/** The sums of an index or of a model, and the fields of its minima and maxima. */
export interface DeclaredAggregates {
  readonly sums: CompiledModel["sums"];
  readonly min: readonly string[];
  readonly max: readonly string[];
}

/** A call that reads all aggregates of an index or of a model. */
export interface AggregatesText {
  /** The options as code: `count: true, sum: { amount: true }`. */
  readonly options: string;
  /** The type of the result as code. */
  readonly result: string;
}

/** Returns the code of a call, or undefined if there are no aggregates but the count. */
export function aggregatesText(
  { sums, min, max }: DeclaredAggregates,
  names: ModelNames,
  types: ModelTypes,
): AggregatesText | undefined {
  const fieldType = (field: string) => keyType(types.row, field, names.row);
  const results = {
    sum: sums.map(({ field, type }) => [field, type] as const),
    avg: sums.map(({ field }) => [field, "number"] as const),
    min: min.map((field) => [field, fieldType(field)] as const),
    max: max.map((field) => [field, fieldType(field)] as const),
  };
  const present = Object.entries(results).filter(([, fields]) => fields.length > 0);
  if (present.length === 0) return undefined;
  const options = present.map(([option, fields]) => {
    const chosen = fields.map(([field]) => `${propertyName(field)}: true`);
    return `${option}: { ${chosen.join(", ")} }`;
  });
  const members = present.map(([option, fields]) => {
    const values = fields.map(([field, type]) => `${propertyName(field)}: ${type} | null`);
    return `${option}: { ${values.join("; ")} };`;
  });
  return {
    options: ["count: true", ...options].join(", "),
    result: `{ count: number; ${members.join(" ")} }`,
  };
}
