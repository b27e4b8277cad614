import type * as z from "zod";
import { definitionOf } from "./schema-definition.js";

export type ValueKind = "string" | "number" | "bigint" | "boolean" | "date" | "bytes";

const plainKinds: ReadonlySet<string> = new Set(["string", "number", "bigint", "boolean", "date"]);
const wrappers: ReadonlySet<string> = new Set([
  "optional",
  "nullable",
  "default",
  "prefault",
  "catch",
  "readonly",
  "nonoptional",
]);

/** Returns the kind of a schema's values, if the schema determines a single one. */
export function kindOf(schema: z.core.$ZodType): ValueKind | undefined {
  const { type, innerType } = definitionOf(schema);
  if (plainKinds.has(type)) return type as ValueKind;
  if (wrappers.has(type)) return innerType && kindOf(innerType);
  return type === "custom" && schema._zod.bag.Class === Uint8Array ? "bytes" : undefined;
}
