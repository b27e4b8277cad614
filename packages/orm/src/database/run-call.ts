import type { AnyQuery } from "../context/any-query.js";
import { CallReport } from "../context/call-report.js";
import { isPlainObject } from "../context/is-plain-object.js";
import { ReadMeter } from "../context/read-meter.js";
import type { TableContext } from "../context/table-context.js";
import { knownNames } from "../errors/nearest-name.js";
import { addOperation, type Operation } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import type { AnyRow } from "../model/compiled-model.js";
import { includedRelations } from "../relations/load/include-query.js";
import { allowedOptions, assertSelect, type RepositoryMethod } from "./call-options.js";

/**
 * Runs a call of a repository's method. Counts the reads of the call, adds the name of the method
 * to its errors, and reports the call to `onQuery` when it ends.
 *
 * @param maxReads replaces the `maxReads` of the call and of the database.
 * @throws {InvalidArgumentError} if the method does not have an option of the call.
 */
export async function runCall<T>(
  context: TableContext,
  operation: Operation,
  argument: unknown,
  run: (meter: ReadMeter) => Promise<T>,
  maxReads?: number,
): Promise<T> {
  const report = new CallReport(context, operation);
  let meter: ReadMeter | undefined;
  let failure: unknown;
  try {
    meter = meterOf(context, checkedOptions(context, operation, argument), maxReads);
    return await run(meter);
  } catch (error) {
    addOperation(error, operation);
    failure = error;
    throw error;
  } finally {
    if (meter !== undefined) report.end(meter, failure);
  }
}

/**
 * Like {@link runCall}, for a call that returns its results one by one. The call ends when the loop
 * over the results ends, early or not.
 */
export async function* streamCall<T>(
  context: TableContext,
  operation: Operation,
  argument: unknown,
  run: (meter: ReadMeter) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const report = new CallReport(context, operation);
  let meter: ReadMeter | undefined;
  let failure: unknown;
  try {
    meter = meterOf(context, checkedOptions(context, operation, argument));
    yield* run(meter);
  } catch (error) {
    addOperation(error, operation);
    failure = error;
    throw error;
  } finally {
    if (meter !== undefined) report.end(meter, failure);
  }
}

/** Returns a meter for a call, with the limit of the call or else of the database. */
export function meterOf(
  { model, settings }: TableContext,
  query: AnyQuery,
  maxReads: number = query.maxReads ?? settings.maxReads,
): ReadMeter {
  return new ReadMeter(model.name, maxReads);
}

/**
 * Checks the argument of a call. Unknown options are refused, because a call with a misspelled
 * option would do something else than intended.
 *
 * @throws {InvalidArgumentError} if the argument is not an object, or if an option is unknown or
 * not valid.
 */
export function checkedOptions(
  context: TableContext,
  method: RepositoryMethod,
  argument: unknown,
): AnyQuery {
  const { model } = context;
  const options = objectOf(context, argument, "argument");
  const known = allowedOptions[method];
  for (const name in options) {
    if (known.has(name)) continue;
    const reason = `${method} has no such option; ${knownNames(name, known, "options")}`;
    throw new InvalidArgumentError(model.name, name, reason);
  }
  const { select, include } = options as AnyQuery;
  if (select !== undefined) assertSelect(model, select);
  // Check it before a write. If the call failed after the commit, the write would stay.
  if (include !== undefined) includedRelations(context, include);
  return options;
}

/**
 * Returns the `where` of a call that identifies one row.
 *
 * @throws {InvalidArgumentError} if it is not a plain object.
 */
export function whereOf({ model }: TableContext, { where }: AnyQuery): AnyRow {
  if (isPlainObject(where)) return where;
  throw new InvalidArgumentError(model.name, "where", "it must be a plain object");
}

/** @throws {InvalidArgumentError} if the value is not an object. */
export function objectOf({ model }: TableContext, value: unknown, name: string): AnyRow {
  if (typeof value === "object" && value !== null) return value as AnyRow;
  throw new InvalidArgumentError(model.name, name, "it must be an object");
}
