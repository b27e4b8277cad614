import type * as z from "zod";
import { deepest } from "../../types/is-optional.js";
import type { Schema } from "../../types/writer.js";

/**
 * Whether a transform, a codec or a coercion in a schema makes another value of the one that is given, though perhaps of the same
 * type. What is within objects and arrays does not count.
 */
export function isMade(schema: Schema | undefined, depth = 0): boolean {
  if (schema === undefined || depth > deepest) return false;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const isMadeWithin = (inner: Schema | undefined) => isMade(inner, depth + 1);
  if ("coerce" in def && def.coerce === true) return true;
  switch (def.type) {
    case "transform":
    case "success":
      return true;
    case "pipe":
      // A pipe of a codec's has the function itself.
      return "transform" in def || isMadeWithin(def.in) || isMadeWithin(def.out);
    case "union":
      return def.options.some(isMadeWithin);
    case "intersection":
      return isMadeWithin(def.left) || isMadeWithin(def.right);
    case "lazy":
      return isMadeWithin((schema as z.core.$ZodLazy)._zod.innerType);
    default:
      return "innerType" in def && isMadeWithin(def.innerType);
  }
}
