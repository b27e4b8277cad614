import * as z from "zod";

type Schema = z.core.$ZodType;

interface Definition {
  readonly type: string;
  readonly format?: string;
  readonly innerType?: Schema;
  readonly in?: Schema;
  readonly out?: Schema;
  readonly options?: readonly Schema[];
  readonly left?: Schema;
  readonly right?: Schema;
  readonly transform?: unknown;
}

/** What a row lacks where it lacks a field. */
const nothings = [undefined, null] as const;

/**
 * Whether a stored row may have nothing in a field, by what its schema returns: a default may put something there, and what
 * stands behind a transform may allow nothing. Of a transform that nothing stands behind it is not known what it makes;
 * such a field counts as one that may be absent where the transform makes nothing of nothing, or takes time to make it.
 */
export function canBeAbsent(schema: z.ZodType): boolean {
  return nothings.some((nothing) => returns(schema, nothing, new Set()));
}

/** Whether a row may be without a field, whatever the schema makes of undefined: an absent field is not put to it. */
export function canBeLeftOut(schema: Schema): boolean {
  const { optin, optout } = schema._zod;
  return optin === "optional" && optout === "optional";
}

/** Whether a field may be left out or set to null, and then has nothing; also where that takes time to find out. */
export function canBeCleared(schema: z.ZodType): boolean {
  return canBeLeftOut(schema) || nothings.some((nothing) => makesNothing(schema, nothing));
}

/** Whether a schema may return undefined, or null. `within` are the schemas that are being looked at, which may contain themselves. */
function returns(schema: Schema, nothing: undefined | null, within: Set<Schema>): boolean {
  if (within.has(schema)) return false;
  within.add(schema);
  const of = (part: Schema | undefined) => part !== undefined && returns(part, nothing, within);
  const answer = () => {
    const def = definitionOf(schema);
    switch (def.type) {
      case "optional":
        return nothing === undefined || of(def.innerType);
      case "nullable":
        return nothing === null || of(def.innerType);
      case "default":
      case "prefault":
      case "nonoptional":
        return nothing === null && of(def.innerType);
      case "catch":
      case "readonly":
      case "promise":
        return of(def.innerType);
      case "union":
        return (def.options ?? []).some(of);
      case "intersection":
        return of(def.left) && of(def.right);
      case "lazy":
        return of((schema as z.core.$ZodLazy)._zod.innerType);
      case "pipe":
        if (!isTransform(def.out)) return of(def.out);
        return nothings.some((given) => makesNothing(schema, given));
      default:
        return makesNothing(schema, nothing);
    }
  };
  const result = answer();
  within.delete(schema);
  return result;
}

/** Whether a schema makes nothing of nothing. True where that takes time to find out, false where it throws. */
function makesNothing(schema: Schema, nothing: undefined | null): boolean {
  try {
    const made = outcome(schema, nothing);
    return made.success && (made.data === undefined || made.data === null);
  } catch (error) {
    return error instanceof z.core.$ZodAsyncError;
  }
}

/** What a schema makes of a value. A transform's promise is not waited for, and may fail unheard. */
function outcome(schema: Schema, value: unknown): z.ZodSafeParseResult<unknown> {
  const def = definitionOf(schema);
  if (def.type === "pipe" && def.transform === undefined && def.in && def.out) {
    const between = outcome(def.in, value);
    return between.success ? outcome(def.out, between.data) : between;
  }
  if (def.type !== "transform") return z.safeParse(schema, value);
  const { transform } = (schema as z.core.$ZodTransform)._zod.def;
  const unheard = z.transform((input: unknown, payload) => {
    const made: unknown = transform(input, payload);
    return made instanceof Promise ? made.catch(() => undefined) : made;
  });
  return z.safeParse(unheard, value);
}

function isTransform(schema: Schema | undefined): boolean {
  return schema !== undefined && definitionOf(schema).type === "transform";
}

function definitionOf(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition;
}

/** Whether a field is a plain `z.ulid()`. */
export function isUlid(schema: z.ZodType | undefined): boolean {
  if (schema === undefined) return false;
  const { type, format } = definitionOf(schema);
  return type === "string" && format === "ulid";
}
