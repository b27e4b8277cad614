import { isIdentifier } from "./identifiers.js";

/** Which of a schema's two types is meant: of what is stored and read, or of what is handed in. */
export type Side = "output" | "input";

/** A schema, as a type that leads to it: `typeof City.schema.shape.location`. */
export type SchemaReference = string;

/** The schema of a model that is imported under a name. */
export function referenceToModel(importName: string): SchemaReference {
  return `typeof ${importName}.schema`;
}

/** A schema that another one holds, by the properties that lead to it. */
export function referenceWithin(
  reference: SchemaReference,
  ...properties: readonly string[]
): SchemaReference {
  return properties.reduce(memberOf, reference);
}

/** The type of a schema that is not spelled out. */
export function referredType(reference: SchemaReference, side: Side): string {
  return `z.${side}<${reference}>`;
}

function memberOf(reference: SchemaReference, property: string): SchemaReference {
  const isIndexed = reference.endsWith("]");
  if (!isIndexed && isIdentifier(property)) return `${reference}.${property}`;
  return `${isIndexed ? reference : `(${reference})`}[${JSON.stringify(property)}]`;
}
