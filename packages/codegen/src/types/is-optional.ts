import type * as z from "zod";
import type { Side } from "./reference.js";
import type { Schema } from "./writer.js";

/** Schemas nest no deeper than this, unless they are made anew at each step without an end. */
export const deepest = 64;

/**
 * Whether Zod's types let a property of a schema be left out. That is what the schema itself says at run time, but for
 * `catch`, which takes an absent value against its type, and intersections, where it is the other way round. A schema without an end says nothing of it.
 */
export function isOptional(schema: Schema, side: Side, depth = 0): boolean {
  if (depth > deepest) return false;
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
      // What is preprocessed has the type of a transform's input, which says nothing of absence.
      return isOptional(def.in._zod.def.type === "transform" ? def.out : def.in, side, depth + 1);
    default:
      return schema._zod[side === "input" ? "optin" : "optout"] !== undefined;
  }
}
