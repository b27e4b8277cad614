import type { JsonSchema } from "./manifest.js";
import { alternativesOf } from "./normalize-json-schema.js";

/** A schema within a document, which its references are to. */
export interface ValueSchema {
  readonly root: JsonSchema;
  /** It has no reference at its own place. */
  readonly node: JsonSchema;
}

/** The schema of a whole document. */
export function valueSchema(root: JsonSchema): ValueSchema {
  return within(root, root);
}

/** A schema that stands in another; what a reference there is to. */
export function partOf({ root }: ValueSchema, node: unknown): ValueSchema {
  return within(root, node as JsonSchema);
}

/** The alternatives of a schema, those of the schemas that it refers to too. */
export function optionsOf(schema: ValueSchema): readonly ValueSchema[] {
  const options = alternativesOf(schema.node);
  if (options.length === 1 && options[0] === schema.node) return [schema];
  return options.flatMap((option) => optionsOf(partOf(schema, option)));
}

/** What stands for a reference with words beside it: always the same, so that what contains itself is known again. */
const merged = new WeakMap<JsonSchema, JsonSchema>();

function within(root: JsonSchema, given: JsonSchema): ValueSchema {
  let node = given;
  for (let steps = 0; typeof node.$ref === "string" && steps < 100; steps++) {
    const { $ref, ...rest } = node;
    const target = targetOf(root, String($ref));
    const isAlone = Object.keys(rest).length === 0;
    const both = isAlone ? target : (merged.get(node) ?? { ...target, ...rest });
    if (!isAlone) merged.set(node, both);
    node = both;
  }
  return { root, node };
}

function targetOf(root: JsonSchema, reference: string): JsonSchema {
  if (reference === "#") return root;
  const definitions = (root.$defs ?? {}) as Readonly<Record<string, JsonSchema>>;
  return definitions[reference.replace("#/$defs/", "")] ?? {};
}
