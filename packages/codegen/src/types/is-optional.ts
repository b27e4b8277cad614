import type * as z from "zod";
import type { Side } from "./place.js";
import type { ZodSchema } from "./writer.js";

/** A schema is deeper only if it creates a new schema at each step without end. */
export const maxSchemaDepth = 64;

/**
 * True if Zod's types allow a property with this schema to be absent.
 *
 * Most schemas report at run time what their type says. There are two exceptions. `catch` accepts
 * an absent value although its type does not. An intersection reports nothing, although its type is
 * optional if both sides are. False for a schema without an end.
 */
export function isOptional(schema: ZodSchema, side: Side, depth = 0): boolean {
  if (depth > maxSchemaDepth) return false;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "catch":
    case "nullable":
    case "readonly":
      return isOptional(def.innerType, side, depth + 1);
    case "intersection":
      return isOptional(def.left, side, depth + 1) && isOptional(def.right, side, depth + 1);
    case "lazy":
      return isOptional((schema as z.core.$ZodLazy)._zod.innerType, side, depth + 1);
    case "pipe":
      if (side === "output") return isOptional(def.out, side, depth + 1);
      // `z.preprocess` puts a transform first. The input type of a transform does not show if the
      // value may be absent.
      return isOptional(def.in._zod.def.type === "transform" ? def.out : def.in, side, depth + 1);
    default:
      return schema._zod[side === "input" ? "optin" : "optout"] !== undefined;
  }
}
