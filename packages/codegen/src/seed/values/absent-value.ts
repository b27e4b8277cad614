import { refusalOf } from "./generate-value.js";
import type { Schema } from "./place.js";

/** Returns the input of a field that has no value, or undefined if the field needs one. */
export function absentValue(schema: Schema): { readonly value: undefined | null } | undefined {
  if (refusalOf(schema, null) === undefined) return { value: null };
  // A default may be a value.
  const isOptional = schema._zod.optout === "optional";
  return isOptional && refusalOf(schema, undefined) === undefined
    ? { value: undefined }
    : undefined;
}
