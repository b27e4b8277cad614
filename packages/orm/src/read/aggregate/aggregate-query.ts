import { knownNames } from "../../errors/nearest-name.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import type { AnyQuery } from "../../state/context/any-query.js";

/** The options of `aggregate` and `groupBy`, for any model. */
export interface AnyAggregateQuery
  extends Pick<AnyQuery, "where" | "index" | "take" | "maxReads" | "signal"> {
  readonly by?: unknown;
  readonly orderBy?: unknown;
  readonly having?: unknown;
  readonly count?: unknown;
  readonly sum?: unknown;
  readonly avg?: unknown;
  readonly min?: unknown;
  readonly max?: unknown;
}

/** What `aggregate` or `groupBy` computes. */
export interface Aggregates {
  readonly count: boolean;
  readonly sum: readonly string[];
  readonly avg: readonly string[];
  readonly min: readonly string[];
  readonly max: readonly string[];
}

/** The functions of fields, in the order of the result. */
export const fieldAggregates = ["sum", "avg", "min", "max"] as const;

/**
 * Returns what a query computes.
 *
 * @throws {InvalidArgumentError} if an option is not valid, or if none of them is set.
 */
export function parseAggregates(model: CompiledModel, query: AnyAggregateQuery): Aggregates {
  const { count = false } = query;
  const fail = (place: string, reason: string): never => {
    throw new InvalidArgumentError(model.name, place, reason);
  };
  if (typeof count !== "boolean") fail("count", "it must be true or false");
  const fieldsOf = (option: (typeof fieldAggregates)[number]): string[] => {
    const value = query[option];
    if (value === undefined) return [];
    if (!isPlainObject(value))
      return fail(option, "it must be an object, such as { amount: true }");
    return Object.keys(value).filter((field) => {
      if (!Object.hasOwn(model.schema.shape, field)) {
        const advice = knownNames(field, Object.keys(model.schema.shape), "fields");
        fail(`${option}.${field}`, `the schema has no such field; ${advice}`);
      }
      if (value[field] !== undefined && typeof value[field] !== "boolean")
        fail(`${option}.${field}`, "it must be true");
      return value[field] === true;
    });
  };
  const [sum, avg, min, max] = fieldAggregates.map(fieldsOf);
  const aggregates = { count: count === true, sum: sum!, avg: avg!, min: min!, max: max! };
  const isEmpty = fieldAggregates.every((option) => aggregates[option].length === 0);
  if (isEmpty && !aggregates.count)
    fail("argument", "it asks for nothing; add count: true, or sum, avg, min or max with fields");
  return aggregates;
}

/**
 * Returns the fields of `by`.
 *
 * @throws {InvalidArgumentError} if it is not a list of distinct names, or empty.
 */
export function parseBy(model: CompiledModel, by: unknown): readonly string[] {
  const isList = Array.isArray(by) && by.length > 0 && by.every((name) => typeof name === "string");
  if (!isList || new Set(by).size < by.length) {
    const reason = 'it must be a list of fields, each of them once, such as ["month"]';
    throw new InvalidArgumentError(model.name, "by", reason);
  }
  return by as readonly string[];
}
