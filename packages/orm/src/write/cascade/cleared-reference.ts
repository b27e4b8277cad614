import type * as z from "zod";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { canBeLeftOut } from "../../model/fields/field-schema.js";

/**
 * Returns the update that clears a reference. Each of its fields is set to null if the schema
 * accepts null, or removed if the schema accepts that. Other fields of the reference keep their
 * values.
 */
export function clearedReference(model: CompiledModel, fields: readonly string[]): AnyRow {
  const change: Record<string, unknown> = {};
  for (const field of fields) {
    const schema = model.schema.shape[field];
    if (schema === undefined) continue;
    if (keepsEmpty(schema, null)) change[field] = { set: null };
    else if (canBeLeftOut(schema) || keepsEmpty(schema, undefined)) change[field] = { unset: true };
  }
  return change;
}

/** True if a schema accepts null or undefined and does not turn it into another value. */
function keepsEmpty(schema: z.ZodType, value: null | undefined): boolean {
  try {
    const result = schema.safeParse(value);
    return result.success && (result.data === null || result.data === undefined);
  } catch {
    // The schema has an asynchronous part. The update finds out whether it accepts the value.
    return true;
  }
}
