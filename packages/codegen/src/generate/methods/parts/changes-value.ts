import type * as z from "zod";
import { maxSchemaDepth } from "../../../types/is-optional.js";
import type { ZodSchema } from "../../../types/writer.js";

/**
 * True if a transform, a codec or a coercion in the schema can change the input value, even if the
 * type stays the same. The contents of objects and arrays are not examined.
 */
export function changesValue(schema: ZodSchema | undefined, depth = 0): boolean {
  if (schema === undefined || depth > maxSchemaDepth) return false;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const changesWithin = (inner: ZodSchema | undefined) => changesValue(inner, depth + 1);
  if ("coerce" in def && def.coerce === true) return true;
  switch (def.type) {
    case "transform":
    case "success":
      return true;
    case "pipe":
      // The pipe of a codec contains the transform function itself.
      return "transform" in def || changesWithin(def.in) || changesWithin(def.out);
    case "union":
      return def.options.some(changesWithin);
    case "intersection":
      return changesWithin(def.left) || changesWithin(def.right);
    case "lazy":
      return changesWithin((schema as z.core.$ZodLazy)._zod.innerType);
    default:
      return "innerType" in def && changesWithin(def.innerType);
  }
}
