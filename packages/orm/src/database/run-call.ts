import { nameOperation, type Operation } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import type { AnyRow } from "../model/compiled-model.js";
import type { AnyQuery } from "../query/any-query.js";
import { isPlainObject } from "../query/is-plain-object.js";
import { ReadMeter } from "../query/read-meter.js";
import type { TableContext } from "../query/table-context.js";
import { includedRelations } from "../relations/include-query.js";
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
  const { onQuery } = context.settings;
  const startedAt = onQuery === undefined ? 0 : Date.now();
  const start = onQuery === undefined ? 0 : performance.now();
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
    if (onQuery !== undefined && meter !== undefined) {
      reportCall(context, operation, meter, startedAt, start, failure);
    }
  }
}

/** The same for a call that gives its result one by one. It is reported when the loop over it ends or is left. */
export async function* streamCall<T>(
  context: TableContext,
  operation: Operation,
  argument: unknown,
  run: (meter: ReadMeter) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const startedAt = Date.now();
  const start = performance.now();
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
    if (meter !== undefined) reportCall(context, operation, meter, startedAt, start, failure);
  }
}

function reportCall(
  { model, settings }: TableContext,
  operation: Operation,
  { index, reads }: ReadMeter,
  startedAt: number,
  start: number,
  error: unknown,
): void {
  const milliseconds = performance.now() - start;
  const event = { operation, model: model.name, index, reads, milliseconds, startedAt, error };
  try {
    settings.onQuery?.(event);
  } catch (thrown) {
    // What the call did is done: who listens to it does not make it fail.
    console.error("onQuery threw:", thrown);
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
