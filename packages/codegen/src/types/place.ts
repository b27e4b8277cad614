import { isIdentifier } from "./identifiers.js";

/** One of the two types of a schema. The output is stored and read, the input is passed in. */
export type Side = "output" | "input";

/** A reference to a schema, as a type: `typeof City.schema.shape.location`. */
export type SchemaReference = string;

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

/** The position of a schema within the schema of a model. */
export interface Place {
  /** The fields that lead to it. */
  readonly path: readonly string[];
  /** Undefined if no type can refer to the schema, for example within a union. */
  readonly reference: SchemaReference | undefined;
}

/** Returns the place of a field of the object at a place. */
export function placeOfField({ path, reference }: Place, field: string): Place {
  return placeWithin({ path: [...path, field], reference }, "shape", field);
}

/** Returns the place of a schema that is reached through properties of the schema at a place. */
export function placeWithin({ path, reference }: Place, ...properties: readonly string[]): Place {
  return { path, reference: reference && referenceWithin(reference, ...properties) };
}

/** Returns a place within another one that no type can refer to. It keeps the path for errors. */
export function unreferablePlace({ path }: Place): Place {
  return { path, reference: undefined };
}
