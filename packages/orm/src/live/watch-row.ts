import type { AnyRow } from "../model/compiled-model.js";
import type { AnyQuery, FoundRow } from "../query/any-query.js";
import type { TableContext } from "../query/table-context.js";

export function watchRow(
  _context: TableContext,
  _where: AnyRow,
  _query: AnyQuery,
): ReadableStream<FoundRow | null> {
  throw new Error("not there yet");
}
