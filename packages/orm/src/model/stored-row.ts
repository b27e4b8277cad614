import type { KvKeyPart } from "@keywright/core";
import type * as z from "zod";
import { type RowIssue, StoredRowInvalidError } from "../errors/row-errors.js";
import type { AnyRow, CompiledModel } from "./compiled-model.js";
import { synchronousOutputSchema } from "./output-schema.js";

/**
 * Puts a row as it is stored to what its schema returns. The row stays as it is. Conditions that take time, and what a
 * transform made, are believed.
 *
 * @throws {StoredRowInvalidError} with every issue, where it does not fit.
 */
export function assertStoredRow(
  model: CompiledModel,
  row: unknown,
  primaryKey: readonly KvKeyPart[],
): asserts row is AnyRow {
  const result = synchronousOutputSchema(model.schema).safeParse(row);
  if (result.success) return;
  const id = primaryKey.length === 1 && primaryKey[0] !== undefined ? primaryKey[0] : primaryKey;
  throw new StoredRowInvalidError(model.name, id, rowIssues(result.error));
}

/** What a schema found wrong, as the errors of rows tell it. */
export function rowIssues(error: z.ZodError): RowIssue[] {
  return error.issues.map(({ path, code, message }) => ({ path, code: code ?? "custom", message }));
}
