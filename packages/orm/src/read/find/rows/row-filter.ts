import { InvalidArgumentError } from "../../../errors/query-errors.js";
import type { AnyRow, CompiledModel } from "../../../model/compiled-model.js";
import { ignoreRejection, isPromise } from "../../../model/keys/is-promise.js";
import { ownFields } from "../../../model/rows/own-fields.js";
import { assertArgument, functionOf } from "../../../model/shape.js";

export type RowFilter = (row: AnyRow) => boolean;

const functionOfRow = functionOf(" of a row");

/**
 * Returns the filter of a query. Undefined if the query has none. The returned function throws if
 * the filter returns a promise, because a promise is truthy and every row would pass.
 */
export function rowFilterOf(
  { name, schema }: CompiledModel,
  filter: unknown,
): RowFilter | undefined {
  if (filter === undefined) return undefined;
  assertArgument(name, "filter", filter, functionOfRow);
  return (row) => {
    const result: unknown = (filter as (row: AnyRow) => unknown)(ownFields(schema, row));
    if (isPromise(result)) {
      ignoreRejection(result);
      const reason = "it returned a promise; it must be synchronous";
      throw new InvalidArgumentError(name, "filter", reason);
    }
    return Boolean(result);
  };
}
