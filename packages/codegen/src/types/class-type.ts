import type * as z from "zod";
import type { Alternatives } from "./alternatives.js";

/** Built-in classes whose name is exactly the type that `z.instanceof` infers. */
const plainClasses: ReadonlySet<unknown> = new Set([ArrayBuffer, Date, RegExp, URL]);

const arrayClasses: ReadonlySet<unknown> = new Set([
  BigInt64Array,
  BigUint64Array,
  Float32Array,
  Float64Array,
  Int8Array,
  Int16Array,
  Int32Array,
  Uint8Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
]);

/** Returns undefined unless the schema is `z.instanceof` of a built-in class. */
export function classType(schema: z.core.$ZodType): Alternatives | undefined {
  const { checks = [] } = schema._zod.def;
  const Class = classOf(schema);
  const isNarrowed = checks.some((check) => check._zod.def.check === "properties");
  if (Class === undefined || isNarrowed) return undefined;
  if (plainClasses.has(Class)) return [Class.name];
  return arrayClasses.has(Class) ? [`${Class.name}<ArrayBuffer>`] : undefined;
}

/** If a `z.instanceof` schema was refined later, only its parent has the class. */
function classOf(schema: z.core.$ZodType): { readonly name: string } | undefined {
  const { bag, parent } = schema._zod;
  const { Class } = bag as { Class?: { readonly name: string } };
  return Class ?? (parent === undefined ? undefined : classOf(parent));
}
