import * as z from "zod";
import * as core from "zod/v4/core";
import { InvalidArgumentError } from "../../../errors/query-errors.js";
import { RowInvalidError } from "../../../errors/row-errors.js";
import type { AnyRow } from "../../../model/compiled-model.js";

export function fillDefaults(
  model: string,
  all: z.ZodObject,
  row: AnyRow,
  fields: readonly string[],
): AnyRow {
  const filled: Record<string, unknown> = { ...row };
  for (const field of fields) {
    const schema = all.shape[field];
    if (schema === undefined || row[field] !== undefined) continue;
    const result = parseUndefined(model, field, schema);
    if (result.success) {
      filled[field] = result.data;
      continue;
    }
    const issues = result.error.issues.map((issue) => ({ ...issue, path: [field, ...issue.path] }));
    throw new RowInvalidError(model, { error: new z.ZodError(issues), schema: all });
  }
  return filled;
}

function parseUndefined(
  model: string,
  field: string,
  schema: z.ZodType,
): z.ZodSafeParseResult<unknown> {
  try {
    return schema.safeParse(undefined);
  } catch (error) {
    if (!(error instanceof core.$ZodAsyncError)) throw error;
    const reason = "its default is asynchronous; fill the field in with a migration";
    throw new InvalidArgumentError(model, `schema.${field}`, reason);
  }
}
