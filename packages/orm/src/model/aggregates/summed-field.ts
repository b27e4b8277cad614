import { valueKinds } from "../fields/key-kinds.js";
import type { Schema } from "../fields/schema-definition.js";
import { definitionOf } from "../fields/schema-definition.js";
import type { DecimalField } from "./decimal.js";

/** A field whose values are added up. */
export interface SummedField {
  readonly field: string;
  /** The number of digits after the decimal point. 0 for integers. */
  readonly scale: number;
  /** The type of the values and of their sum. */
  readonly type: "number" | "bigint" | "string";
  /** True if rows may lack the field. The rows that have it are then counted too. */
  readonly isOptional: boolean;
}

const integerFormats: ReadonlySet<unknown> = new Set(["safeint", "int32", "uint32"]);
const maxScale = 15;

/**
 * Returns a field as it is summed.
 *
 * @param fail throws an error with the reason if the field cannot be summed.
 */
export function summedField(
  definition: string | DecimalField,
  schema: Schema,
  isOptional: boolean,
  fail: (reason: string) => never,
): SummedField {
  const isDecimal = typeof definition !== "string";
  const field = isDecimal ? definition.decimal : definition;
  const name = JSON.stringify(field);
  const scale = isDecimal ? definition.scale : 0;
  if (!Number.isInteger(scale) || scale < 0 || scale > maxScale)
    fail(`the scale of decimal(${name}, …) must be an integer from 0 to ${maxScale}`);
  const kinds = valueKinds(schema);
  const types = new Set(kinds.map(typeOf));
  const [type] = types;
  if (types.size !== 1 || type === undefined)
    return fail(`the field ${name} must contain integers, bigints or decimals only`);
  if (type === "string" && !isDecimal)
    fail(
      `the field ${name} contains texts; if they are decimal numbers, write decimal(${name}, 2)`,
    );
  if (type === "number" && !isDecimal && !kinds.every(isInteger)) {
    fail(
      `the field ${name} may contain fractions, whose sum depends on the order of addition; use z.int(), such as cents, or write decimal(${name}, 2)`,
    );
  }
  if (type === "bigint" && isDecimal)
    fail(`the field ${name} contains bigints, which have no scale`);
  return { field, scale, type, isOptional };
}

function typeOf(kind: Schema): SummedField["type"] | undefined {
  const { type, values = [] } = definitionOf(kind);
  const types = type === "literal" ? new Set(values.map((value) => typeof value)) : new Set([type]);
  const [only] = types;
  if (types.size !== 1) return undefined;
  if (only === "int") return "number";
  return only === "number" || only === "bigint" || only === "string" ? only : undefined;
}

function isInteger(kind: Schema): boolean {
  const { type, values = [] } = definitionOf(kind);
  if (type === "literal") return values.every((value) => Number.isSafeInteger(value));
  const { format, checks = [] } = definitionOf(kind);
  if (integerFormats.has(format)) return true;
  return checks.some((check) => {
    const { format: checked, value } = check._zod.def as { format?: unknown; value?: unknown };
    const isMultiple = check._zod.def.check === "multiple_of" && Number.isInteger(value);
    return integerFormats.has(checked) || (isMultiple && value !== 0);
  });
}
