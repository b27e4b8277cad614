import type * as z from "zod";
import { knownNames } from "../../errors/nearest-name.js";
import type { AnyRow, CompiledIndex } from "../compiled-model.js";
import { canBeAbsent } from "../fields/field-schema.js";
import { synchronousOutputSchema } from "../fields/output-schema.js";
import type { ConditionValue } from "./field-types.js";

type Condition = NonNullable<CompiledIndex["condition"]>;

/**
 * Checks the `where` of an index that is an object of values, and returns it in the order of its
 * fields.
 */
export function compileCondition(
  shape: Readonly<Record<string, z.ZodType>>,
  where: unknown,
  parts: CompiledIndex["parts"],
  fail: (reason: string) => never,
): Condition {
  if (typeof where !== "object" || where === null || Array.isArray(where))
    return fail("it must be an object of values by field, or a function");
  const condition = Object.entries(where).sort(([a], [b]) => (a < b ? -1 : 1));
  if (condition.length === 0) fail("it must name at least one field");
  for (const [field, value] of condition) {
    const name = JSON.stringify(field);
    const schema = Object.hasOwn(shape, field) ? shape[field] : undefined;
    if (schema === undefined)
      return fail(
        `the schema has no field ${name}; ${knownNames(field, Object.keys(shape), "fields")}`,
      );
    if (value === undefined)
      fail(`the value for ${name} is undefined; use null for rows that lack it`);
    if (!isConditionValue(value))
      fail(
        `the value for ${name} must be null, a string, a finite number or a boolean; use a function for others`,
      );
    const isInKey = parts.some((part) => part.field === field && part.compute === undefined);
    if (value === null && isInKey)
      fail(
        `it selects rows that lack ${name}, which is in the key, so no row would be in the index`,
      );
    if (value === null ? !canBeAbsent(schema) : !canHave(schema, value))
      fail(`by the schema, no row has this value for ${name}`);
  }
  return Object.fromEntries(condition) as Condition;
}

/** True if a row has all values of a condition. A field that is null or undefined is absent. */
export function matchesCondition(condition: Condition, row: AnyRow): boolean {
  for (const field in condition) {
    if ((row[field] ?? null) !== condition[field]) return false;
  }
  return true;
}

function isConditionValue(value: unknown): value is ConditionValue {
  return (
    value === null ||
    typeof value === "string" ||
    typeof value === "boolean" ||
    Number.isFinite(value)
  );
}

function canHave(schema: z.ZodType, value: unknown): boolean {
  return synchronousOutputSchema(schema).safeParse(value).success;
}
