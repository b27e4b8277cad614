import type { AnyRow, CompiledModel } from "../model/compiled-model.js";

/**
 * What was handed over, as it is now, whatever becomes of the object: each property is read once. Fields that an object of
 * a class has from its prototype are among them.
 */
export function copyOfData(model: CompiledModel, data: object): AnyRow {
  const copy: Record<string, unknown> = { ...data };
  const prototype: unknown = Object.getPrototypeOf(data);
  if (prototype === Object.prototype || prototype === null) return copy;
  for (const field of Object.keys(model.schema._zod.def.shape)) {
    if (!Object.hasOwn(copy, field) && field in data) copy[field] = (data as AnyRow)[field];
  }
  return copy;
}
