import type { JsonSchema } from "../manifests/manifest.js";
import { alternativesOf } from "./normalize-json-schema.js";

/** A schema within a document. Its references are to definitions of `root`. */
export interface ValueSchema {
  readonly root: JsonSchema;
  /** The schema itself. A reference in its place has been replaced with its target. */
  readonly node: JsonSchema;
}

export function valueSchema(root: JsonSchema): ValueSchema {
  return resolve(root, root);
}

export function nestedSchema({ root }: ValueSchema, node: unknown): ValueSchema {
  return resolve(root, node as JsonSchema);
}

export function optionsOf(schema: ValueSchema): readonly ValueSchema[] {
  const options = alternativesOf(schema.node);
  if (options.length === 1 && options[0] === schema.node) return [schema];
  return options.flatMap((option) => optionsOf(nestedSchema(schema, option)));
}

/** Merged schemas are kept, so that a schema that contains itself is recognized by identity. */
const merged = new WeakMap<JsonSchema, JsonSchema>();

function resolve(root: JsonSchema, input: JsonSchema): ValueSchema {
  let node = input;
  for (let steps = 0; typeof node.$ref === "string" && steps < 100; steps++) {
    const { $ref, ...rest } = node;
    const target = targetOf(root, String($ref));
    const isAlone = Object.keys(rest).length === 0;
    const combined = isAlone ? target : (merged.get(node) ?? { ...target, ...rest });
    if (!isAlone) merged.set(node, combined);
    node = combined;
  }
  return { root, node };
}

function targetOf(root: JsonSchema, reference: string): JsonSchema {
  if (reference === "#") return root;
  const definitions = (root.$defs ?? {}) as Readonly<Record<string, JsonSchema>>;
  return definitions[reference.replace("#/$defs/", "")] ?? {};
}
