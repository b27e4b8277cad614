import type { ReadMeter } from "../query/read-meter.js";
import type { TableContext } from "../query/table-context.js";
import type { RowResult } from "./row-result.js";
import type { WriteOptions } from "./write-options.js";

export async function createRows(
  _context: TableContext,
  _data: readonly unknown[],
  _options: WriteOptions & { readonly atomic?: boolean },
  _meter: ReadMeter,
): Promise<RowResult[]> {
  throw new Error("not there yet");
}
