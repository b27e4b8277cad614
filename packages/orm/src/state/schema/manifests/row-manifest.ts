import type * as z from "zod";
import { synchronousOutputSchema } from "../../../model/fields/output-schema.js";
import { definitionOf, lazySchema, type Schema } from "../../../model/fields/schema-definition.js";
import { hasTransform, jsonSchemaOf } from "../json/json-schema.js";
import { withoutUndefined } from "../json/normalize-json-schema.js";
import { hashOf } from "./hash.js";
import type { FieldManifest, RowManifest } from "./manifest.js";
import { schemaFunctions } from "./schema-functions.js";

/** The name of a manifest's entry for all fields that the schema does not name. */
export const otherFields = "*";

/**
 * Describes the rows of a schema as data: the JSON Schema of each field, whether a row may lack the
 * field, and whether the schema fills it in. The order of the fields does not matter. A loose
 * object, or an object with a `catchall`, has an additional field `"*"` for all other fields.
 *
 * Two schemas have the same manifest if they differ only in functions: those of `refine` and
 * `check`, the result of a transform, the value of a default.
 */
export function rowManifest(schema: z.ZodObject, primaryKey: readonly string[]): RowManifest {
  const known = knownManifests
    .get(schema)
    ?.find((manifest) => isSameList(manifest.primaryKey, primaryKey));
  if (known !== undefined) return known;
  const manifest = makeManifest(schema, primaryKey);
  knownManifests.set(schema, [...(knownManifests.get(schema) ?? []), manifest]);
  return manifest;
}

/** Describing a schema takes a millisecond or more, and every plan needs the manifests again. */
const knownManifests = new WeakMap<z.ZodObject, readonly RowManifest[]>();

/** Returns the manifest of a schema as a database stores it. */
export function storedManifest(schema: z.ZodObject, manifest: RowManifest): RowManifest {
  const functions = schemaFunctions(schema);
  return Object.keys(functions).length === 0 ? manifest : { ...manifest, functions };
}

/** The fields of manifests that transforms make, and that every row has. */
const madeFields = new WeakMap<RowManifest, ReadonlySet<string>>();

/**
 * True if a transform makes a field, so that its JSON Schema shows neither its type nor that every
 * row has it. Only known of manifests that `rowManifest` has returned.
 */
export function isMade(manifest: RowManifest, field: string): boolean {
  return madeFields.get(manifest)?.has(field) ?? false;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

function makeManifest(schema: z.ZodObject, primaryKey: readonly string[]): RowManifest {
  const fields: Record<string, FieldManifest> = {};
  const made = new Set<string>();
  for (const name of Object.keys(schema.shape).sort()) {
    const field = schema.shape[name];
    if (field === undefined) continue;
    fields[name] = fieldManifest(field);
    if (field._zod.optout === undefined && hasTransform(fields[name].schema)) made.add(name);
  }
  const { catchall } = schema._zod.def;
  if (catchall !== undefined && catchall._zod.def.type !== "never") {
    const described = withoutUndefined(jsonSchemaOf(catchall));
    fields[otherFields] = { schema: described, optional: true, defaulted: false };
  }
  const manifest = { hash: hashOf([primaryKey, fields]), primaryKey: [...primaryKey], fields };
  madeFields.set(manifest, made);
  return manifest;
}

function fieldManifest(schema: z.ZodType): FieldManifest {
  const optional = synchronousOutputSchema(schema)._zod.optin !== undefined;
  const { inner, isThere } = peel(schema, optional);
  const described = jsonSchemaOf(inner);
  return {
    schema: optional || isThere ? withoutUndefined(described) : described,
    optional,
    defaulted: isDefaulted(schema, new Set()),
  };
}

/**
 * Removes wrappers that say nothing about stored values. Defaults are among them, because Zod would
 * call their functions to describe them. `isThere` is true if a wrapper keeps the value from being
 * undefined.
 */
function peel(schema: Schema, optional: boolean): { inner: Schema; isThere: boolean } {
  let inner = schema;
  for (let isThere = false; ; ) {
    const def = definitionOf(inner);
    const isFilled = ["default", "prefault", "nonoptional"].includes(def.type);
    const isPeeled =
      isFilled || ["catch", "readonly"].includes(def.type) || (optional && def.type === "optional");
    if (!isPeeled || def.innerType === undefined) return { inner, isThere };
    isThere ||= isFilled;
    inner = def.innerType;
  }
}

function isDefaulted(schema: Schema, ancestors: Set<Schema>): boolean {
  if (ancestors.has(schema)) return false;
  ancestors.add(schema);
  const isPartDefaulted = (part: Schema | undefined) =>
    part !== undefined && isDefaulted(part, ancestors);
  const def = definitionOf(schema);
  switch (def.type) {
    case "default":
    case "prefault":
    case "catch":
      return true;
    case "optional":
    case "nullable":
    case "nonoptional":
    case "readonly":
      return isPartDefaulted(def.innerType);
    case "lazy":
      return isPartDefaulted(lazySchema(schema));
    case "pipe":
      return isPartDefaulted(def.in);
    case "union":
      // Zod uses the first option that takes the value.
      return isPartDefaulted(def.options?.find((option) => option._zod.optin !== undefined));
    default:
      return false;
  }
}
