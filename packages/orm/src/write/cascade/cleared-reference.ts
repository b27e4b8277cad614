import type * as z from "zod";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { canBeLeftOut } from "../../model/field-schema.js";

const cleared = new WeakMap<CompiledModel, Map<string, AnyRow>>();

/**
 * The change of a row after which it refers to nothing by some fields: those that take null become null, and those that may
 * be absent otherwise are taken away. The others stay.
 */
export function clearedReference(model: CompiledModel, fields: readonly string[]): AnyRow {
  let ofModel = cleared.get(model);
  if (ofModel === undefined) {
    ofModel = new Map();
    cleared.set(model, ofModel);
  }
  const name = JSON.stringify(fields);
  let data = ofModel.get(name);
  if (data === undefined) {
    data = changeOf(model, fields);
    ofModel.set(name, data);
  }
  return data;
}

function changeOf(model: CompiledModel, fields: readonly string[]): AnyRow {
  const data: Record<string, unknown> = {};
  for (const field of fields) {
    const schema = model.schema.shape[field];
    if (schema === undefined) continue;
    if (becomes(schema, null)) data[field] = { set: null };
    else if (canBeLeftOut(schema) || becomes(schema, undefined)) data[field] = { unset: true };
  }
  return data;
}

/** Whether a field may hold null or undefined, and then does. */
function becomes(schema: z.ZodType, value: null | undefined): boolean {
  try {
    const result = schema.safeParse(value);
    return result.success && (result.data === null || result.data === undefined);
  } catch {
    // A schema with an asynchronous part: the update says whether it takes the value.
    return true;
  }
}
