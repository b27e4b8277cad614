import { referenceWithin, type SchemaReference } from "./reference.js";

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
