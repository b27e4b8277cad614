import { InvalidArgumentError } from "../errors/query-errors.js";
import { isPlainObject } from "./is-plain-object.js";

/** What a value must be: a part of a stored record, or an argument of a call. */
export interface Shape<T = unknown> {
  /** Returns the path of the first part that is not valid, or undefined if the value is valid. */
  (value: unknown): string | undefined;
  /** The end of the sentence "it must be …". */
  readonly named?: string;
  /** Carries the type of the valid values. It has no value. */
  readonly type?: T;
}

/** @param named the end of the sentence "it must be …", if arguments have this shape. */
export const is = <T = unknown>(test: (value: unknown) => boolean, named?: string): Shape<T> =>
  Object.assign((value: unknown) => (test(value) ? undefined : ""), named && { named });

/**
 * Refuses an argument that does not have a shape.
 *
 * @param call the function that has the argument, if it is not a method of a repository.
 * @throws {InvalidArgumentError} if the value is not valid.
 */
export function assertArgument<T>(
  model: string,
  argument: string,
  value: unknown,
  shape: Shape<T>,
  call?: string,
): asserts value is T {
  if (shape(value) === undefined) return;
  throw new InvalidArgumentError(model, argument, `it must be ${shape.named}`, call);
}

/** @param among the values as the message lists them. */
export const oneOf = <T>(values: readonly T[], among: string): Shape<T> =>
  is<T>((value) => values.includes(value as T), among);

export const text: Shape = is((value) => typeof value === "string");
export const flag: Shape<boolean> = is((value) => typeof value === "boolean", "true or false");
export const versionstampText: Shape<string> = is(
  (value) => typeof value === "string" && /^[0-9a-f]{20}$/.test(value),
  "a versionstamp, 20 hexadecimal digits",
);
export const list: Shape<readonly unknown[]> = is(Array.isArray, "an array");
export const positiveInteger: Shape<number> = is(
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
  "a positive integer",
);
export const positive: Shape<number> = is(
  (value) => typeof value === "number" && value > 0,
  "a positive number",
);
/** @param of what the function gets or does, such as `" of a row"`. */
export const functionOf = (of = ""): Shape<(...args: never[]) => unknown> =>
  is((value) => typeof value === "function", `a function${of}`);

export const count: Shape<number> = is(
  (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
  "a number from 0",
);
export const date: Shape = is((value) => value instanceof Date && !Number.isNaN(value.getTime()));

export const optional =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined ? undefined : shape(value);

export const nullable =
  (shape: Shape): Shape =>
  (value) =>
    value === null ? undefined : shape(value);

const within = (place: string, problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : problem === "" ? place : `${place}.${problem}`;

export const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every((element) => shape(element) === undefined) ? undefined : "";

/** The names of a record are not part of a path, because they may be stored values. */
export const recordOf =
  (shape: Shape): Shape =>
  (value) =>
    isPlainObject(value) && Object.values(value).every((one) => shape(one) === undefined)
      ? undefined
      : "";

export const object =
  (fields: Readonly<Record<string, Shape>>): Shape =>
  (value) => {
    if (!isPlainObject(value)) return "";
    for (const [name, shape] of Object.entries(fields)) {
      const field: unknown = Object.hasOwn(value, name) ? value[name] : undefined;
      const problem = within(name, shape(field));
      if (problem !== undefined) return problem;
    }
    return undefined;
  };

export const keyPart: Shape = is(
  (value) =>
    ["string", "number", "bigint", "boolean"].includes(typeof value) || value instanceof Uint8Array,
);

export const plainObject: Shape<Readonly<Record<string, unknown>>> = is(
  isPlainObject,
  "a plain object",
);

/** A key, or a primary key: it has at least one part. */
export const key: Shape = is(
  (value) => Array.isArray(value) && value.length > 0 && listOf(keyPart)(value) === undefined,
);
