import type { AnyQuery } from "../context/any-query.js";
import { CallReport } from "../context/call-report.js";
import { isPlainObject } from "../context/is-plain-object.js";
import { ReadMeter } from "../context/read-meter.js";
import type { TableContext } from "../context/table-context.js";
import { nameOperation, type Operation } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import type { AnyRow } from "../model/compiled-model.js";
import { includedRelations } from "../relations/load/include-query.js";
import { assertSelect, type Method, optionsOf } from "./call-options.js";

/**
 * Runs a call of a repository's method: it counts what the call reads, says in its errors which method it was, and reports
 * it when it ends.
 *
 * @param maxReads instead of what the call or the database says.
 * @throws {InvalidArgumentError} for options that the method does not have.
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
    nameOperation(error, operation);
    failure = error;
    throw error;
  } finally {
    if (meter !== undefined) report.end(meter, failure);
  }
}

/** The same for a call that gives its result one by one. It is reported when the loop over it ends or is left. */
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
    nameOperation(error, operation);
    failure = error;
    throw error;
  } finally {
    if (meter !== undefined) report.end(meter, failure);
  }
}

/** Counts what a call reads, up to its own limit or to that of the database. */
export function meterOf(
  { model, settings }: TableContext,
  query: AnyQuery,
  maxReads: number = query.maxReads ?? settings.maxReads,
): ReadMeter {
  return new ReadMeter(model.name, maxReads);
}

/**
 * The argument of a call, looked at: a misspelled option would make it another call.
 *
 * @throws {InvalidArgumentError} for what is no object, and for an option that the method does not have.
 */
export function checkedOptions(context: TableContext, method: Method, argument: unknown): AnyQuery {
  const { model } = context;
  const options = objectOf(context, argument, "argument");
  const known = optionsOf[method];
  for (const name in options) {
    if (known.has(name)) continue;
    const reason = `${method} has no such option: it has ${[...known].join(", ")}`;
    throw new InvalidArgumentError(model.name, name, reason);
  }
  const { select, include } = options as AnyQuery;
  if (select !== undefined) assertSelect(model, select);
  // Before a write is made, which would stand whatever is wrong with what it is to return.
  if (include !== undefined) includedRelations(context, include);
  return options;
}

/**
 * What a call says of the row that it means.
 *
 * @throws {InvalidArgumentError} for what is no plain object.
 */
export function whereOf({ model }: TableContext, { where }: AnyQuery): AnyRow {
  if (isPlainObject(where)) return where;
  throw new InvalidArgumentError(model.name, "where", "it has to be a plain object");
}

/** @throws {InvalidArgumentError} for what is no object. */
export function objectOf({ model }: TableContext, value: unknown, name: string): AnyRow {
  if (typeof value === "object" && value !== null) return value as AnyRow;
  throw new InvalidArgumentError(model.name, name, "it has to be an object");
}
