import type * as z from "zod";
import { synchronousOutputSchema } from "../model/output-schema.js";
import { hashOf } from "./hash.js";
import { jsonSchemaOf } from "./json-schema.js";
import type { FieldManifest, RowManifest } from "./manifest.js";
import { withoutUndefined } from "./normalize-json-schema.js";

type Schema = z.core.$ZodType;

interface Definition {
  readonly type: string;
  readonly innerType?: Schema;
  readonly in?: Schema;
  readonly options?: readonly Schema[];
}

/** The name among a row's fields of what it may hold beside those of its schema. */
export const otherFields = "*";

/**
 * What the rows of a schema are, as data: the JSON Schema of what each field holds, whether it may be absent, and whether
 * the schema fills it in. It is the same for every order of the fields. A loose object, and one with a `catchall`, has a
 * field `"*"` more, of all others.
 *
 * Two schemas that differ only in functions have the same: in those of `refine` and `check`, in what a transform makes, in
 * the value of a default.
 */
export function rowManifest(schema: z.ZodObject, primaryKey: readonly string[]): RowManifest {
  const known = made.get(schema)?.find((manifest) => isSameList(manifest.primaryKey, primaryKey));
  if (known !== undefined) return known;
  const manifest = makeManifest(schema, primaryKey);
  made.set(schema, [...(made.get(schema) ?? []), manifest]);
  return manifest;
}

/** Describing a schema takes a millisecond and more, and is asked for each time that a plan is made. */
const made = new WeakMap<z.ZodObject, readonly RowManifest[]>();

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

function makeManifest(schema: z.ZodObject, primaryKey: readonly string[]): RowManifest {
  const fields: Record<string, FieldManifest> = {};
  for (const name of Object.keys(schema.shape).sort()) {
    const field = schema.shape[name];
    if (field !== undefined) fields[name] = fieldManifest(field);
  }
  const { catchall } = schema._zod.def;
  if (catchall !== undefined && catchall._zod.def.type !== "never") {
    const described = withoutUndefined(jsonSchemaOf(catchall));
    fields[otherFields] = { schema: described, optional: true, defaulted: false };
  }
  return { hash: hashOf([primaryKey, fields]), primaryKey: [...primaryKey], fields };
}

function fieldManifest(schema: z.ZodType): FieldManifest {
  const optional = synchronousOutputSchema(schema)._zod.optin !== undefined;
  const { inner, isThere } = peeled(schema, optional);
  const described = jsonSchemaOf(inner);
  return {
    schema: optional || isThere ? withoutUndefined(described) : described,
    optional,
    defaulted: isDefaulted(schema, new Set()),
  };
}

/** A schema without its defaults, whose functions Zod would call to describe them. */
function peeled(schema: Schema, optional: boolean): { inner: Schema; isThere: boolean } {
  let inner = schema;
  for (let isThere = false; ; ) {
    const def = inner._zod.def as unknown as Definition;
    const isFilled = ["default", "prefault", "nonoptional"].includes(def.type);
    const isPeeled =
      isFilled || ["catch", "readonly"].includes(def.type) || (optional && def.type === "optional");
    if (!isPeeled || def.innerType === undefined) return { inner, isThere };
    isThere ||= isFilled;
    inner = def.innerType;
  }
}

/** Whether a schema puts something where nothing is given, by its definition alone. */
function isDefaulted(schema: Schema, within: Set<Schema>): boolean {
  if (within.has(schema)) return false;
  within.add(schema);
  const of = (part: Schema | undefined) => part !== undefined && isDefaulted(part, within);
  const def = schema._zod.def as unknown as Definition;
  switch (def.type) {
    case "default":
    case "prefault":
    case "catch":
      return true;
    case "optional":
    case "nullable":
    case "nonoptional":
    case "readonly":
      return of(def.innerType);
    case "lazy":
      return of((schema as z.core.$ZodLazy)._zod.innerType);
    case "pipe":
      return of(def.in);
    case "union":
      // Zod takes the first that takes the value.
      return of(def.options?.find((option) => option._zod.optin !== undefined));
    default:
      return false;
  }
}
