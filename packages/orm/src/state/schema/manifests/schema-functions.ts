import * as z from "zod";
import { definitionOf, lazySchema, type Schema } from "../../../model/fields/schema-definition.js";
import { canonicalSource } from "../functions/canonical-source.js";
import { hashOf } from "./hash.js";

/** The name under which the functions of the whole object are, which are of no single field. */
export const wholeRow = "";

/**
 * Describes the functions of each field's schema: those of transforms, `refine`, `check`,
 * `overwrite`, `z.custom` and codecs. The JSON Schema of the field does not contain them. Fields
 * without functions are absent.
 *
 * @returns a hash of the sources of each field. It does not contain the functions that these call,
 * nor those of `superRefine`, which Zod does not expose.
 */
export function schemaFunctions(schema: z.ZodObject): Readonly<Record<string, string>> {
  const known = knownFunctions.get(schema);
  if (known !== undefined) return known;
  const hashes: Record<string, string> = {};
  const add = (name: string, sources: readonly string[]) => {
    if (sources.length > 0) hashes[name] = hashOf(sources);
  };
  for (const [name, field] of Object.entries(schema.shape)) add(name, sourcesOf(field, new Set()));
  const { catchall } = schema._zod.def;
  add(wholeRow, [...ownSources(schema), ...(catchall ? sourcesOf(catchall, new Set()) : [])]);
  knownFunctions.set(schema, hashes);
  return hashes;
}

const knownFunctions = new WeakMap<z.ZodObject, Readonly<Record<string, string>>>();

function sourcesOf(schema: Schema, visited: Set<Schema>): string[] {
  if (visited.has(schema)) return [];
  visited.add(schema);
  const def = definitionOf(schema);
  const parts = [
    ...Object.values(def.shape ?? {}),
    ...[def.catchall, def.element, def.keyType, def.valueType, def.rest, def.left, def.right],
    ...[...(def.items ?? []), ...(def.options ?? [])],
    ...[def.innerType, def.in, def.out],
    ...(def.type === "lazy" ? [lazySchema(schema)] : []),
  ];
  const inParts = parts.flatMap((part) => (part ? sourcesOf(part, visited) : []));
  return [...ownSources(schema), ...inParts];
}

/** Returns the sources of a schema's own functions and checks. */
function ownSources(schema: Schema): string[] {
  const def = definitionOf(schema) as Functions;
  const checks = definitionOf(schema).checks ?? [];
  const ofChecks = checks.flatMap((check) => {
    const { fn, tx, check: kind } = check._zod.def as Functions;
    return fn ?? tx ?? (kind === "custom" ? (check._zod.check as AnyFunction) : []);
  });
  const own = [def.fn, def.transform, def.reverseTransform].filter(
    (fn) => typeof fn === "function",
  );
  return [...own, ...ofChecks].map(sourceOf).filter((source) => !source.includes(".addIssue="));
}

type AnyFunction = (value: never) => unknown;

interface Functions {
  readonly check?: string;
  readonly fn?: AnyFunction;
  readonly tx?: AnyFunction;
  readonly transform?: AnyFunction;
  readonly reverseTransform?: AnyFunction;
}

/** Zod's own functions have names, because their sources depend on its version and on the build. */
function sourceOf(fn: AnyFunction): string {
  const source = canonicalSource(fn);
  return zodFunctions().get(source) ?? source;
}

let named: ReadonlyMap<string, string> | undefined;

function zodFunctions(): ReadonlyMap<string, string> {
  const schemas = {
    trim: z.string().trim(),
    toLowerCase: z.string().toLowerCase(),
    toUpperCase: z.string().toUpperCase(),
    normalize: z.string().normalize(),
  };
  named ??= new Map(
    Object.entries(schemas).flatMap(([name, schema]) => {
      const [check] = definitionOf(schema).checks ?? [];
      const { tx } = (check?._zod.def ?? {}) as Functions;
      return tx === undefined ? [] : [[canonicalSource(tx), `zod ${name}`] as const];
    }),
  );
  return named;
}
