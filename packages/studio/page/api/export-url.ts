import type { ExportFormat, RowsQuery } from "../../src/protocol/rows.js";
import { encode } from "../../src/protocol/wire.js";

/** Returns the address that downloads all rows of a query. */
export function exportUrl(property: string, format: ExportFormat, query: RowsQuery): string {
  const params = new URLSearchParams({ property, format, query: encode(query) });
  return `/api/export?${params}`;
}
