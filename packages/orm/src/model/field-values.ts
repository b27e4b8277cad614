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

const takeObjects = new Set(["object", "record", "any", "unknown", "custom", "transform"]);

/** Whether a plain object may be a value of a field, as far as its schema tells: one that is never looked into may be. */
export function canBeObject(schema: Schema): boolean {
  const def = schema._zod.def as unknown as Definition;
  if (takeObjects.has(def.type)) return true;
  if (def.type === "lazy") return canBeObject((schema as z.core.$ZodLazy)._zod.innerType);
  const parts = [def.innerType, def.in, ...(def.options ?? []), def.left, def.right];
  return parts.some((part) => part !== undefined && canBeObject(part));
}

/** The schema of the elements of a field that is stored as an array; undefined where its schema does not tell it. */
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
