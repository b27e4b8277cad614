import type { AnyRow } from "../model/compiled-model.js";
import type { AnyQuery } from "../query/any-query.js";
import type { ReadMeter } from "../query/read-meter.js";
import type { TableContext } from "../query/table-context.js";
import type { RowResult } from "./row-result.js";
import type { WriteOptions } from "./write-options.js";

export async function updateRows(
  _context: TableContext,
  _query: AnyQuery,
  _data: AnyRow,
  _options: WriteOptions & { readonly atomic?: boolean },
  _meter: ReadMeter,
): Promise<RowResult[]> {
  throw new Error("not there yet");
}

export async function deleteRows(
  _context: TableContext,
  _query: AnyQuery,
  _options: { readonly atomic?: boolean },
  _meter: ReadMeter,
): Promise<RowResult[]> {
  throw new Error("not there yet");
}
