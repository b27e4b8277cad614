import * as z from "zod";
import { RowInvalidError } from "../../errors/row-errors.js";
import { ownIssue } from "../../errors/row-issue.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isMarked } from "../../model/options/soft-delete.js";

/**
 * Refuses data that marks a row as deleted. Only a delete does so, because it also applies the
 * `onDelete` rules of relations.
 *
 * @throws {RowInvalidError} if the row is marked.
 */
export function assertUnmarked(model: CompiledModel, row: AnyRow): void {
  if (!isMarked(model, row)) return;
  const message = "only delete sets it, and only restore clears it; leave it out";
  const path = [model.softDelete!];
  const error = new z.ZodError([{ code: "custom", path, message, params: ownIssue, input: row }]);
  throw new RowInvalidError(model.name, { error, schema: model.schema });
}
