import type * as z from "zod";

type Schema = z.core.$ZodType;

interface Definition {
  readonly type: string;
  readonly innerType?: Schema;
  readonly in?: Schema;
  readonly out?: Schema;
  readonly element?: Schema;
  readonly options?: readonly Schema[];
  readonly left?: Schema;
  readonly right?: Schema;
}

const objectTypes = new Set(["object", "record", "any", "unknown", "custom", "transform"]);

/** True if a plain object may be a value, as far as the schema shows, or the schema allows all. */
export function canBeObject(schema: Schema): boolean {
  const def = schema._zod.def as unknown as Definition;
  if (objectTypes.has(def.type)) return true;
  if (def.type === "lazy") return canBeObject((schema as z.core.$ZodLazy)._zod.innerType);
  const parts = [def.innerType, def.in, ...(def.options ?? []), def.left, def.right];
  return parts.some((part) => part !== undefined && canBeObject(part));
}

/** Returns the schema of an array's elements. Undefined if the schema does not show it. */
export function elementSchema(schema: Schema): Schema | undefined {
  const def = schema._zod.def as unknown as Definition;
  if (def.type === "array") return def.element;
  const inner =
    def.type === "lazy"
      ? (schema as z.core.$ZodLazy)._zod.innerType
      : def.type === "pipe"
        ? def.out
        : def.innerType;
  return inner && elementSchema(inner);
}
