import * as z from "zod";
import { RowInvalidError, type RowIssue } from "../errors/row-errors.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";

/**
 * The row that a schema makes of what `create` was given: defaults filled in, transforms applied.
 *
 * @throws {RowInvalidError} with every issue.
 */
export async function parseRow(model: CompiledModel, data: unknown): Promise<AnyRow> {
  const result = await parse(model.schema, data);
  if (!result.success) throw invalid(model, result.error);
  return result.data as AnyRow;
}

/**
 * A stored row with some of its fields changed. Each new value is parsed by its field's schema; where the schema as a
 * whole has conditions of its own, the changed row is put to them too.
 *
 * @throws {RowInvalidError} with every issue.
 */
export async function parsePatch(model: CompiledModel, row: AnyRow, data: AnyRow): Promise<AnyRow> {
  const { shape, catchall } = model.schema._zod.def;
  const changed: Record<string, unknown> = { ...row };
  const issues: z.core.$ZodIssue[] = [];
  for (const [field, value] of Object.entries(data)) {
    if (value === undefined) continue;
    const schema = Object.hasOwn(shape, field) ? shape[field] : catchall;
    if (schema === undefined) {
      issues.push(unrecognised(data, field));
      continue;
    }
    const result = await parse(schema as z.ZodType, value);
    if (result.success) {
      changed[field] = result.data;
    } else {
      for (const issue of result.error.issues)
        issues.push({ ...issue, path: [field, ...issue.path] });
    }
  }
  if (issues.length === 0 && model.schema._zod.def.checks?.length) {
    const result = await parse(model.schema, changed);
    if (!result.success) issues.push(...result.error.issues);
  }
  if (issues.length > 0) throw invalid(model, new z.ZodError(issues));
  return changed;
}

/** Parses at once where the schema can, and asynchronously where it has asynchronous parts. */
async function parse(schema: z.ZodType, data: unknown): Promise<z.ZodSafeParseResult<unknown>> {
  try {
    return schema.safeParse(data);
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) return await schema.safeParseAsync(data);
    throw error;
  }
}

function unrecognised(data: AnyRow, field: string): z.core.$ZodIssue {
  const message = `Unrecognized key: ${JSON.stringify(field)}`;
  return {
    code: "unrecognized_keys",
    keys: [field],
    path: [],
    message,
    input: data,
  };
}

function invalid(model: CompiledModel, error: z.ZodError): RowInvalidError {
  const issues = error.issues.map(
    ({ path, code, message }): RowIssue => ({
      path,
      code: code ?? "custom",
      message,
    }),
  );
  return new RowInvalidError(model.name, issues, error);
}
