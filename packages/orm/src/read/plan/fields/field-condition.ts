import { knownNames } from "../../../errors/nearest-name.js";
import { InvalidQueryError } from "../../../errors/query-errors.js";
import type { CompiledModel } from "../../../model/compiled-model.js";
import { keyPartOf } from "../../../model/keys/key-parts.js";

export interface FieldCondition {
  /** The values that the field may have. Undefined if the condition has bounds. */
  readonly values: readonly unknown[] | undefined;
  /** True for a single value. A list of one value is not, because orders depend on this. */
  readonly isEqual: boolean;
  /** True for null: the rows that lack the field. Only the `where` of an index can select them. */
  readonly isNull: boolean;
  readonly bounds: Bounds;
  readonly has: boolean;
}

export interface Bounds {
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
  readonly startsWith?: unknown;
}

const boundNames: ReadonlySet<string> = new Set(["gt", "gte", "lt", "lte", "startsWith"]);

const conditionNames = ["equals", "has", "in", "between", ...boundNames];

const plain: FieldCondition = {
  values: undefined,
  isEqual: false,
  isNull: false,
  bounds: {},
  has: false,
};

/** The condition on a field that rows may lack, for the rows that lack it. */
export const isAbsentCondition: FieldCondition = {
  ...plain,
  values: [null],
  isEqual: true,
  isNull: true,
};

export function parseCondition(
  model: CompiledModel,
  field: string,
  condition: unknown,
): FieldCondition {
  const fail = (reason: string): never => {
    throw new InvalidQueryError(model.name, field, reason);
  };
  if (condition === undefined || condition === null) {
    fail(`it is ${condition}; give a value, or leave the field out`);
  }
  if (keyPartOf(condition) !== undefined) return { ...plain, values: [condition], isEqual: true };
  if (condition instanceof Date) fail("it is an invalid date");
  if (typeof condition !== "object" || Array.isArray(condition)) {
    fail("it must be a value that a key can hold, or a condition such as { gte: … }");
  }
  const input = condition as Readonly<Record<string, unknown>>;
  const names = Object.keys(input);
  for (const exclusive of ["equals", "has", "in", "between", "startsWith"]) {
    if (names.length > 1 && names.includes(exclusive))
      fail(`${exclusive} must be the only condition of the field`);
  }
  if (Object.hasOwn(input, "equals")) {
    const { equals } = input;
    // The value may come from outside the program. It must not be read as another condition.
    if (keyPartOf(equals) === undefined) fail("a key cannot hold the value of equals");
    return { ...plain, values: [equals], isEqual: true };
  }
  if (Object.hasOwn(input, "has")) {
    const inner = parseCondition(model, field, input.has);
    if (inner.has) fail("has cannot contain has");
    return { ...inner, has: true };
  }
  if (Object.hasOwn(input, "in")) {
    const { in: values } = input;
    if (!Array.isArray(values)) return fail("in must be a list");
    if (values.some((value) => keyPartOf(value) === undefined)) {
      fail("a key cannot hold one of the values of in");
    }
    return { ...plain, values };
  }
  return { ...plain, bounds: parseBounds(input, fail) };
}

function parseBounds(
  input: Readonly<Record<string, unknown>>,
  fail: (reason: string) => never,
): Bounds {
  const bounds: Record<string, unknown> = {};
  const add = (name: string, value: unknown): void => {
    if (value === undefined) fail(`${name} is undefined; give a value, or leave it out`);
    const part = keyPartOf(value);
    if (part === undefined && value instanceof Date) fail(`${name} is an invalid date`);
    if (part === undefined) fail(`a key cannot hold the value of ${name}`);
    // NaN sorts after all other numbers in keys. As a bound, `lt: NaN` would match all of them.
    if (Number.isNaN(part)) fail(`${name} is NaN, and no number is below or above NaN`);
    bounds[name] = value;
  };
  for (const [name, value] of Object.entries(input)) {
    if (name === "between") {
      if (!Array.isArray(value) || value.length !== 2) fail("between must be a list of two values");
      const [from, to] = value as readonly unknown[];
      add("gte", from);
      add("lte", to);
    } else if (boundNames.has(name)) {
      add(name, value);
    } else {
      // The name is not shown, because it may be part of a value that is an object.
      const known = knownNames(name, conditionNames, "conditions");
      fail(`it has an unknown condition; ${known}; test others in filter: (row) => …`);
    }
  }
  if (bounds.gt !== undefined && bounds.gte !== undefined) fail("it has both gt and gte; keep one");
  if (bounds.lt !== undefined && bounds.lte !== undefined) fail("it has both lt and lte; keep one");
  if (Object.keys(bounds).length === 0)
    fail("it has no condition; add one, or leave the field out");
  return bounds;
}
