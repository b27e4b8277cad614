import { isIdentifier } from "./identifiers.js";

/** One of the two types of a schema. The output is stored and read, the input is passed in. */
export type Side = "output" | "input";

/** A reference to a schema, as a type: `typeof City.schema.shape.location`. */
export type SchemaReference = string;

/** Returns the reference to the schema of a model. */
export function referenceToModel(importName: string): SchemaReference {
  return `typeof ${importName}.schema`;
}

/** Returns the reference to a schema that is reached through properties of another one. */
export function referenceWithin(
  reference: SchemaReference,
  ...properties: readonly string[]
): SchemaReference {
  return properties.reduce(memberOf, reference);
}

/** Returns the type of a schema as a reference: `z.output<typeof City.schema.shape.location>`. */
export function referredType(reference: SchemaReference, side: Side): string {
  return `z.${side}<${reference}>`;
}

function memberOf(reference: SchemaReference, property: string): SchemaReference {
  const isIndexed = reference.endsWith("]");
  if (!isIndexed && isIdentifier(property)) return `${reference}.${property}`;
  return `${isIndexed ? reference : `(${reference})`}[${JSON.stringify(property)}]`;
}
