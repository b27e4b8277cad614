import * as z from "zod";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { RowInvalidError } from "../errors/row-errors.js";
import type { AnyRow } from "../model/compiled-model.js";
import { rowIssues } from "../model/stored-row.js";

/**
 * A new row in which fields that are absent have what their schemas put there.
 *
 * @throws {RowInvalidError} where a schema refuses its own default.
 * @throws {InvalidArgumentError} where it takes time to tell.
 */
export function fillDefaults(
  model: string,
  { shape }: z.ZodObject,
  row: AnyRow,
  fields: readonly string[],
): AnyRow {
  const filled: Record<string, unknown> = { ...row };
  for (const field of fields) {
    const schema = shape[field];
    if (schema === undefined || row[field] !== undefined) continue;
    const result = parseNothing(model, field, schema);
    if (result.success) {
      filled[field] = result.data;
      continue;
    }
    const issues = rowIssues(result.error).map((issue) => ({
      ...issue,
      path: [field, ...issue.path],
    }));
    throw new RowInvalidError(model, issues, result.error);
  }
  return filled;
}

function parseNothing(
  model: string,
  field: string,
  schema: z.ZodType,
): z.ZodSafeParseResult<unknown> {
  try {
    return schema.safeParse(undefined);
  } catch (error) {
    if (!(error instanceof z.core.$ZodAsyncError)) throw error;
    const reason = "its default is made asynchronously: fill it in by a migration";
    throw new InvalidArgumentError(model, `schema.${field}`, reason);
  }
}
