import type { AnyQuery } from "./any-query.js";
import type { ReadMeter } from "./read-meter.js";
import type { TableContext } from "./table-context.js";

export async function countRows(
  _context: TableContext,
  _query: AnyQuery,
  _meter: ReadMeter,
): Promise<number> {
  throw new Error("not there yet");
}

export async function rowExists(
  _context: TableContext,
  _query: AnyQuery,
  _meter: ReadMeter,
): Promise<boolean> {
  throw new Error("not there yet");
}
