import type * as z from "zod";
import type { Side } from "./reference.js";
import type { Schema } from "./writer.js";

/**
 * Whether Zod's types let a property of a schema be left out. That is what the schema itself says at run time, but for
 * `catch`, which takes an absent value against its type, and intersections, where it is the other way round.
 */
export function isOptional(schema: Schema, side: Side): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "catch":
    case "nullable":
    case "readonly":
      return isOptional(def.innerType, side);
    case "intersection":
      return isOptional(def.left, side) && isOptional(def.right, side);
    case "lazy":
      return isOptional((schema as z.core.$ZodLazy)._zod.innerType, side);
    case "pipe":
      if (side === "output") return isOptional(def.out, side);
      // What is preprocessed has the type of a transform's input, which says nothing of absence.
      return isOptional(def.in._zod.def.type === "transform" ? def.out : def.in, side);
    default:
      return schema._zod[side === "input" ? "optin" : "optout"] !== undefined;
  }
}
