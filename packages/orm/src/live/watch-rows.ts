import type { AnyQuery, FoundRow } from "../query/any-query.js";
import type { TableContext } from "../query/table-context.js";

export function watchRows(
  _context: TableContext,
  _query: AnyQuery,
): ReadableStream<readonly FoundRow[]> {
  throw new Error("not there yet");
}
