import { referenceWithin, type SchemaReference } from "./reference.js";

/** Where a schema stands within that of a model. */
export interface Place {
  /** The fields that lead to it. */
  readonly path: readonly string[];
  /** Undefined where no type leads to it, as within a union. */
  readonly reference: SchemaReference | undefined;
}

/** The place of an object's field. */
export function placeOfField({ path, reference }: Place, field: string): Place {
  return placeWithin({ path: [...path, field], reference }, "shape", field);
}

/** The place of a schema that some properties of another one lead to. */
export function placeWithin({ path, reference }: Place, ...properties: readonly string[]): Place {
  return { path, reference: reference && referenceWithin(reference, ...properties) };
}

/** A place within another one that no type leads to. */
export function unreferablePlace({ path }: Place): Place {
  return { path, reference: undefined };
}
