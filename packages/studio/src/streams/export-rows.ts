import { Readable } from "node:stream";
import { stringify } from "csv-stringify/sync";
import type { Context } from "hono";
import type { Row, RowsQuery } from "../protocol/rows.js";
import { decode } from "../protocol/wire.js";
import { modelOf, type Source } from "../source/source.js";
import { plainJson } from "./plain-json.js";

/**
 * Sends all rows of a query as a file, while they are read. If a read fails after the first rows,
 * the connection ends, so that the browser does not take the file for a complete one.
 *
 * @throws the errors of `findMany`, before anything is sent.
 */
export async function exportStream(
  context: Context,
  source: Source,
  ending: AbortSignal,
): Promise<Response> {
  const { property = "", query = "", format = "ndjson" } = context.req.query();
  const { repository, model } = modelOf(source, property);
  const inOrder: RowsQuery = { orderBy: { [model.primaryKey[0]!]: "asc" } };
  const { take: _, cursor: __, ...options } = query === "" ? inOrder : decode<RowsQuery>(query);
  const fields = Object.keys(model.schema.shape);
  const isCsv = format === "csv";
  const rows = repository.findMany(options)[Symbol.asyncIterator]();
  const first = await rows.next();
  async function* lines(): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    if (isCsv) yield encoder.encode(csvLine(fields));
    try {
      for (let next = first; next.done !== true; next = await rows.next()) {
        if (ending.aborted) throw new Error("The studio ends.");
        const row = next.value as Row;
        const line = isCsv
          ? csvLine(fields.map((field) => cellOf(row[field])))
          : `${JSON.stringify(plainJson(row))}\n`;
        yield encoder.encode(line);
      }
    } finally {
      await rows.return?.();
    }
  }
  const file = `${property.replace(/[^\w-]/g, "_")}.${isCsv ? "csv" : "ndjson"}`;
  return context.body(Readable.toWeb(Readable.from(lines())) as ReadableStream<Uint8Array>, 200, {
    "Content-Type": isCsv ? "text/csv; charset=utf-8" : "application/x-ndjson",
    "Content-Disposition": `attachment; filename="${file}"`,
  });
}

/** A text that a spreadsheet would take for a formula begins with an apostrophe. */
function csvLine(cells: readonly unknown[]): string {
  return stringify([[...cells]], {
    escape_formulas: true,
    record_delimiter: "\r\n",
    cast: { boolean: String, bigint: String },
  });
}

/** Numbers stay numbers, because a negative one is no formula. */
function cellOf(value: unknown): unknown {
  if (value === undefined || value === null) return "";
  if (typeof value === "number" || typeof value === "bigint") return value;
  const shown = plainJson(value);
  return typeof shown === "object" ? JSON.stringify(shown) : String(shown);
}
