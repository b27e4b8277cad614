import type { AnyRow } from "../model/compiled-model.js";
import type { AnyInclude } from "../query/any-query.js";
import type { ReadMeter } from "../query/read-meter.js";
import type { TableContext } from "../query/table-context.js";

export async function loadRelations(
  _context: TableContext,
  _rows: readonly AnyRow[],
  _selected: readonly AnyRow[],
  _include: AnyInclude,
  _meter: ReadMeter,
): Promise<AnyRow[]> {
  throw new Error("not there yet");
}
