import { nameOperation } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import type { AnyQuery } from "../query/any-query.js";
import { ReadMeter } from "../query/read-meter.js";
import type { TableContext } from "../query/table-context.js";
import { rereadTorn } from "../relations/reread-torn.js";

/**
 * Reads the state of a live query: each time may read as much as the query, and is told of as a call. It is read again where
 * rows that it includes were deleted between it and them.
 */
export async function measuredRead<T>(
  { model, settings }: TableContext,
  query: AnyQuery,
  read: (meter: ReadMeter) => Promise<T>,
): Promise<T> {
  const meter = new ReadMeter(model.name, query.maxReads ?? settings.maxReads);
  const startedAt = Date.now();
  const start = performance.now();
  let failure: unknown;
  try {
    return await rereadTorn(() => read(meter));
  } catch (error) {
    nameOperation(error, "watch");
    failure = error;
    throw error;
  } finally {
    settings.onQuery?.({
      operation: "watch",
      model: model.name,
      index: meter.index,
      reads: meter.reads,
      milliseconds: performance.now() - start,
      startedAt,
      error: failure,
    });
  }
}

/**
 * Makes a live query, whose errors then say what they are of.
 *
 * @throws {InvalidArgumentError} within a transaction: what it reads is not what others see.
 */
export function beginWatch<T>({ model, transaction }: TableContext, begin: () => T): T {
  try {
    if (transaction !== undefined) {
      const reason = "a transaction has no live queries: watch on the database itself";
      throw new InvalidArgumentError(model.name, "watch", reason);
    }
    return begin();
  } catch (error) {
    nameOperation(error, "watch");
    throw error;
  }
}
