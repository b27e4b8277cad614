import { InvalidArgumentError } from "../../errors/query-errors.js";
import { isPromise } from "../../indexes/is-promise.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";

/** Whether a row is in the result of a query. */
export type RowFilter = (row: AnyRow) => boolean;

/**
 * The filter of a query, as a function that throws where the filter answers with a promise: that would let every row
 * through. Undefined where the query has none.
 *
 * @throws {InvalidArgumentError} for a filter that is no function.
 */
export function rowFilterOf({ name }: CompiledModel, filter: unknown): RowFilter | undefined {
  if (filter === undefined) return undefined;
  if (typeof filter !== "function") {
    throw new InvalidArgumentError(name, "filter", "it has to be a function of a row");
  }
  return (row) => {
    const answer: unknown = (filter as (row: AnyRow) => unknown)(row);
    if (isPromise(answer)) {
      const reason = "it has to answer at once, without a promise";
      throw new InvalidArgumentError(name, "filter", reason);
    }
    return Boolean(answer);
  };
}
