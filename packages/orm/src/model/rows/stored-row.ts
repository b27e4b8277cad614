import type { KvKeyPart } from "@keywright/core";
import type * as z from "zod";
import { StoredRowInvalidError } from "../../errors/row-errors.js";
import type { AnyRow, CompiledModel } from "../compiled-model.js";
import { synchronousOutputSchema } from "../fields/output-schema.js";
import { tooDeep } from "./too-deep.js";

/** Checks a stored row against its schema, except asynchronous conditions and transforms. */
export function assertStoredRow(
  model: CompiledModel,
  row: unknown,
  primaryKey: readonly KvKeyPart[],
): asserts row is AnyRow {
  const result = safeParse(synchronousOutputSchema(model.schema), row);
  if (result.success) return;
  const id = primaryKey.length === 1 && primaryKey[0] !== undefined ? primaryKey[0] : primaryKey;
  throw new StoredRowInvalidError(model.name, id, { error: result.error, schema: model.schema });
}

function safeParse(schema: z.ZodType, row: unknown): z.ZodSafeParseResult<unknown> {
  try {
    return schema.safeParse(row);
  } catch (error) {
    return tooDeep(row, error);
  }
}

/** True if a stored value has the form of a row. Whether it fits the schema is not checked. */
export function isRow(value: unknown): value is AnyRow {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
