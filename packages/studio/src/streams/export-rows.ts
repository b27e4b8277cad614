import { stringify } from "csv-stringify/sync";
import type { Context } from "hono";
import { stream } from "hono/streaming";
import type { Row, RowsQuery } from "../protocol/protocol.js";
import { decode } from "../protocol/wire.js";
import { modelOf, type Source } from "../source/source.js";
import { studioError } from "../source/studio-error.js";

/** Sends all rows of a query as a file, while they are read. */
export function exportStream(context: Context, source: Source, ending: AbortSignal): Response {
  const { property = "", query = "", format = "ndjson" } = context.req.query();
  const { repository, model } = modelOf(source, property);
  const inOrder: RowsQuery = { orderBy: { [model.primaryKey[0]!]: "asc" } };
  const { take: _, cursor: __, ...options } = query === "" ? inOrder : decode<RowsQuery>(query);
  const fields = Object.keys(model.schema.shape);
  const isCsv = format === "csv";
  context.header("Content-Type", isCsv ? "text/csv; charset=utf-8" : "application/x-ndjson");
  const file = `${property.replace(/[^\w-]/g, "_")}.${isCsv ? "csv" : "ndjson"}`;
  context.header("Content-Disposition", `attachment; filename="${file}"`);
  return stream(context, async (output) => {
    if (isCsv) await output.write(csvLine(fields));
    try {
      for await (const row of repository.findMany(options)) {
        if (output.aborted || ending.aborted) return;
        const values = row as Row;
        const line = isCsv
          ? csvLine(fields.map((field) => textOf(values[field])))
          : `${JSON.stringify(plain(values))}\n`;
        await output.write(line);
      }
    } catch (error) {
      // The headers are sent, so the file ends with the error.
      const { message } = studioError(source, error);
      await output.write(isCsv ? csvLine([message]) : `${JSON.stringify({ error: message })}\n`);
    }
  });
}

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function csvLine(cells: readonly string[]): string {
  return stringify([[...cells]], { escape_formulas: true, record_delimiter: "\r\n" });
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  const shown = plain(value);
  return typeof shown === "object" ? JSON.stringify(shown) : String(shown);
}

/**
 * Returns a value as JSON can represent it: dates in ISO 8601, bigints as decimal digits, bytes in
 * base64, sets as arrays and maps as arrays of pairs.
 */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Map || value instanceof Set || Array.isArray(value)) {
    return [...value].map(plain);
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}
