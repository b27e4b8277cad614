import { InvalidQueryError } from "../../errors/query-errors.js";
import { keyPartOf } from "../../indexes/key-parts.js";
import type { CompiledModel } from "../../model/compiled-model.js";

/** The condition of a query on a field: a list of possible values, or bounds. */
export interface FieldCondition {
  /** The values that the field may have. Undefined if the condition has bounds. */
  readonly values: readonly unknown[] | undefined;
  /**
   * True if the condition is a single value. A list of one value does not count, so that the orders
   * that a query can have do not depend on the length of its lists.
   */
  readonly isEqual: boolean;
  readonly bounds: Bounds;
  /** True if the condition is about the elements of an array. */
  readonly has: boolean;
}

/** Bounds on a field's values, as they are in the query. */
export interface Bounds {
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
  readonly startsWith?: unknown;
}

const boundNames: ReadonlySet<string> = new Set(["gt", "gte", "lt", "lte", "startsWith"]);

const unbounded: Bounds = {};

/**
 * Parses the condition on a field.
 *
 * @throws {InvalidQueryError} if the condition is empty, contradicts itself, or has a value that a
 * key cannot hold.
 */
export function parseCondition(
  model: CompiledModel,
  field: string,
  condition: unknown,
): FieldCondition {
  const fail = (reason: string): never => {
    throw new InvalidQueryError(model.name, field, reason);
  };
  if (condition === undefined || condition === null) {
    fail(`it is ${condition}: leave it out, or give it a value`);
  }
  if (keyPartOf(condition) !== undefined) {
    return { values: [condition], isEqual: true, bounds: unbounded, has: false };
  }
  if (condition instanceof Date) fail("it is an invalid date");
  if (typeof condition !== "object" || Array.isArray(condition)) {
    fail("it is neither a value that a key can hold nor a condition");
  }
  const input = condition as Readonly<Record<string, unknown>>;
  const names = Object.keys(input);
  for (const exclusive of ["has", "in", "between", "startsWith"]) {
    if (names.length > 1 && names.includes(exclusive))
      fail(`${exclusive} stands with other conditions`);
  }
  if (Object.hasOwn(input, "has")) {
    const inner = parseCondition(model, field, input.has);
    if (inner.has) fail("has stands within has");
    return { ...inner, has: true };
  }
  if (Object.hasOwn(input, "in")) {
    const { in: values } = input;
    if (!Array.isArray(values)) return fail("in is not a list");
    if (values.some((value) => keyPartOf(value) === undefined)) {
      fail("in has something that is not a value that a key can hold");
    }
    return { values, isEqual: false, bounds: unbounded, has: false };
  }
  const bounds = parseBounds(input, fail);
  return { values: undefined, isEqual: false, bounds, has: false };
}

function parseBounds(
  input: Readonly<Record<string, unknown>>,
  fail: (reason: string) => never,
): Bounds {
  const bounds: Record<string, unknown> = {};
  const add = (name: string, value: unknown): void => {
    if (value === undefined) fail(`${name} is undefined: leave it out, or give it a value`);
    const part = keyPartOf(value);
    if (part === undefined && value instanceof Date) fail(`${name} is an invalid date`);
    if (part === undefined) fail(`${name} is not a value that a key can hold`);
    // NaN sorts after all other numbers in keys. As a bound, `lt: NaN` would match all of them.
    if (Number.isNaN(part)) fail(`${name} is NaN, which no number is below or above`);
    bounds[name] = value;
  };
  for (const [name, value] of Object.entries(input)) {
    if (name === "between") {
      if (!Array.isArray(value) || value.length !== 2) fail("between is not a list of two values");
      const [from, to] = value as readonly unknown[];
      add("gte", from);
      add("lte", to);
    } else if (boundNames.has(name)) {
      add(name, value);
    } else {
      fail(`${JSON.stringify(name)} is none of in, gt, gte, lt, lte, between, startsWith, has`);
    }
  }
  if (bounds.gt !== undefined && bounds.gte !== undefined) fail("gt and gte are both given");
  if (bounds.lt !== undefined && bounds.lte !== undefined) fail("lt and lte are both given");
  if (Object.keys(bounds).length === 0) fail("it has no bounds");
  return bounds;
}
