import type * as z from "zod";
import { ownIssue } from "../../errors/row-issue.js";
import { canBeLeftOut, canBeObject, elementSchema } from "../../model/fields/field-schema.js";
import { outputSchema } from "../../model/fields/output-schema.js";
import { isSameData } from "../../model/rows/is-same-data.js";
import { ownValue } from "../../model/rows/own-fields.js";
import { allReady, whenReady } from "../../promises/when-ready.js";
import { type Parsed, parse } from "./parse.js";

/** The new value of a field, undefined if the field is removed, or the issues with its input. */
export type ChangedField =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly issues: readonly z.core.$ZodIssue[] };

const operationNames = ["set", "increment", "push", "unset"] as const;
type OperationName = (typeof operationNames)[number];

/**
 * Returns the new value of a field for the input of an update, which is a value or an operation. A
 * plain object with the single key `set`, `increment`, `push` or `unset` is an operation. If values
 * of the field may be objects, only `set` and `unset` are operations.
 *
 * A value is parsed by the schema of the field. The results of `increment` and `push` are parsed by
 * the output schema, because the stored value is already an output of the schema. Elements that are
 * pushed are first parsed by the schema of the elements.
 *
 * @param isExtra true if the schema of the row does not name the field. Such a field may be absent.
 */
export function changedField(
  schema: z.core.$ZodType,
  before: unknown,
  input: unknown,
  isExtra: boolean,
): ChangedField | Promise<ChangedField> {
  const operation = operationOf(schema, input);
  if (operation === undefined) return whenReady(parse(schema, input), changedTo);
  const operand = (input as Readonly<Record<string, unknown>>)[operation];
  switch (operation) {
    case "set":
      return whenReady(parse(schema, operand), changedTo);
    case "unset":
      if (operand !== true) return refused("unset must be true");
      // An optional field is not parsed, because the schema could turn undefined into a value.
      if (isExtra || canBeLeftOut(schema)) return { success: true, value: undefined };
      return whenReady(parse(schema, undefined), changedTo);
    case "increment":
      return increment(schema, before, operand);
    case "push":
      return push(schema, before, Array.isArray(operand) ? operand : [operand]);
  }
}

function operationOf(schema: z.core.$ZodType, input: unknown): OperationName | undefined {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(input);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const keys = Object.keys(input);
  const name = keys.length === 1 ? operationNames.find((known) => known === keys[0]) : undefined;
  if (name === undefined || name === "set" || name === "unset") return name;
  return canBeObject(schema) ? undefined : name;
}

function increment(
  schema: z.core.$ZodType,
  before: unknown,
  by: unknown,
): ChangedField | Promise<ChangedField> {
  if (typeof by !== "number" && typeof by !== "bigint") {
    return refused("increment must be a number or a bigint");
  }
  if (typeof before !== typeof by) {
    return refused(`increment needs a field that holds a ${typeof by}`);
  }
  const sum = typeof by === "bigint" ? (before as bigint) + by : (before as number) + by;
  return whenReady(parse(outputSchema(schema as z.ZodType), sum), changedTo);
}

function push(
  schema: z.core.$ZodType,
  before: unknown,
  input: readonly unknown[],
): ChangedField | Promise<ChangedField> {
  if (before !== undefined && before !== null && !Array.isArray(before)) {
    return refused("push needs a field that holds an array");
  }
  const stored: readonly unknown[] = before ?? [];
  const element = elementSchema(schema);
  const isList = element !== undefined || Array.isArray(before);
  if (!isList) return refused("push needs a field that is an array");
  const parsed =
    element === undefined
      ? input.map((value): Parsed => ({ success: true, data: value }))
      : input.map((value) => parse(element, value));
  return whenReady(allReady<Parsed>(parsed), (results) => {
    const issues = results.flatMap((result, position) =>
      result.success ? [] : prefixPaths(stored.length + position, result.error.issues),
    );
    if (issues.length > 0) return { success: false, issues };
    const list = [...stored, ...results.map((result) => result.data)];
    return whenReady(parse(outputSchema(schema as z.ZodType), list), (result) => {
      if (!result.success || element === undefined) return changedTo(result);
      return { success: true, value: withOtherFields(element, stored, result.data) };
    });
  });
}

/**
 * Returns a parsed list in which some elements are replaced by the stored ones: those that differ
 * only in fields that the schema does not have.
 */
function withOtherFields(
  element: z.core.$ZodType,
  stored: readonly unknown[],
  parsed: unknown,
): unknown {
  if (!Array.isArray(parsed)) return parsed;
  return parsed.map((value: unknown, i) => {
    const before = stored[i];
    const own = ownValue(element, before);
    return own !== before && isSameData(value, own) ? before : value;
  });
}

function changedTo(result: Parsed): ChangedField {
  return result.success
    ? { success: true, value: result.data }
    : { success: false, issues: result.error.issues };
}

function refused(message: string): ChangedField {
  return { success: false, issues: [{ code: "custom", path: [], message, params: ownIssue }] };
}

/** Returns issues of a part with `place` added in front of their paths. */
export function prefixPaths(
  place: PropertyKey,
  issues: readonly z.core.$ZodIssue[],
): z.core.$ZodIssue[] {
  return issues.map((issue) => ({ ...issue, path: [place, ...issue.path] }));
}
