import type * as z from "zod";
import { canBeLeftOut } from "../../model/field-schema.js";
import { canBeObject, elementSchema } from "../../model/field-values.js";
import { outputSchema } from "../../model/output-schema.js";
import { allReady, type Parsed, parse, whenReady } from "./parse.js";

/** A field's new value, undefined where it is to go, or what is wrong with it. */
export type ChangedField =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly issues: readonly z.core.$ZodIssue[] };

const operationNames = ["set", "increment", "push", "unset"] as const;
type OperationName = (typeof operationNames)[number];

/**
 * What becomes of a field by what an update says of it: a value, or an operation. A plain object with one key, `set`,
 * `increment`, `push` or `unset`, is an operation; where the field's own values may be objects, only `set` and `unset` are.
 *
 * Values go through the field's schema; an incremented number and an array that something was pushed to are put to what
 * the schema returns, for the stored value is that, and elements that are pushed go through the schema of the elements.
 *
 * @param isExtra whether it is one of the fields that are not named by the row's schema, each of which may be absent.
 */
export function changedField(
  schema: z.core.$ZodType,
  before: unknown,
  given: unknown,
  isExtra: boolean,
): ChangedField | Promise<ChangedField> {
  const operation = operationOf(schema, given);
  if (operation === undefined) return whenReady(parse(schema, given), changedTo);
  const operand = (given as Readonly<Record<string, unknown>>)[operation];
  switch (operation) {
    case "set":
      return whenReady(parse(schema, operand), changedTo);
    case "unset":
      if (operand !== true) return refused(given, "unset takes true");
      // What the schema makes of undefined is another matter: an absent field is not put to it.
      if (isExtra || canBeLeftOut(schema)) return { success: true, value: undefined };
      return whenReady(parse(schema, undefined), changedTo);
    case "increment":
      return increment(schema, before, operand);
    case "push":
      return push(schema, before, Array.isArray(operand) ? operand : [operand]);
  }
}

function operationOf(schema: z.core.$ZodType, given: unknown): OperationName | undefined {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(given);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const keys = Object.keys(given);
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
    return refused(by, "increment takes a number or a bigint");
  }
  if (typeof before !== typeof by) {
    return refused(by, `the field holds no ${typeof by} that could be incremented`);
  }
  const sum = typeof by === "bigint" ? (before as bigint) + by : (before as number) + by;
  return whenReady(parse(outputSchema(schema as z.ZodType), sum), changedTo);
}

function push(
  schema: z.core.$ZodType,
  before: unknown,
  given: readonly unknown[],
): ChangedField | Promise<ChangedField> {
  if (before !== undefined && before !== null && !Array.isArray(before)) {
    return refused(given, "the field holds no array that something could be pushed to");
  }
  const stored: readonly unknown[] = before ?? [];
  const element = elementSchema(schema);
  const isList = element !== undefined || Array.isArray(before);
  if (!isList) return refused(given, "the field is no array");
  const parsed =
    element === undefined
      ? given.map((value): Parsed => ({ success: true, data: value }))
      : given.map((value) => parse(element, value));
  return whenReady(allReady<Parsed>(parsed), (results) => {
    const issues = results.flatMap((result, position) =>
      result.success ? [] : under(stored.length + position, result.error.issues),
    );
    if (issues.length > 0) return { success: false, issues };
    const list = [...stored, ...results.map((result) => result.data)];
    return whenReady(parse(outputSchema(schema as z.ZodType), list), changedTo);
  });
}

function changedTo(result: Parsed): ChangedField {
  return result.success
    ? { success: true, value: result.data }
    : { success: false, issues: result.error.issues };
}

function refused(input: unknown, message: string): ChangedField {
  return { success: false, issues: [{ code: "custom", path: [], message, input }] };
}

/** Issues of a part, with their paths from the whole. */
export function under(place: PropertyKey, issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  return issues.map((issue) => ({ ...issue, path: [place, ...issue.path] }));
}
