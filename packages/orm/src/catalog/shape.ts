import { isPlainObject } from "../model/is-plain-object.js";

/** Returns the path of the first part that is not valid, or undefined if the value is valid. */
export type Shape = (value: unknown) => string | undefined;

export const is =
  (test: (value: unknown) => boolean): Shape =>
  (value) =>
    test(value) ? undefined : "";

export const text: Shape = is((value) => typeof value === "string");
export const flag: Shape = is((value) => typeof value === "boolean");
export const count: Shape = is(
  (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
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

export const plainObject: Shape = is(isPlainObject);

/** A key, or a primary key: it has at least one part. */
export const key: Shape = is(
  (value) => Array.isArray(value) && value.length > 0 && listOf(keyPart)(value) === undefined,
);
