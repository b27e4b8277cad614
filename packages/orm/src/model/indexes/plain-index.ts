import { specificationOrder } from "@keywright/core";
import type { CompiledIndex, CompiledPart } from "../compiled-model.js";

/** Returns the part of a key that holds the values of a field as they are. */
export function plainPart(field: string): CompiledPart {
  return {
    field,
    descending: false,
    descendingOrder: specificationOrder,
    compute: undefined,
    normalize: undefined,
    normalizers: undefined,
  };
}

/**
 * Returns an index that no query chooses by itself, of the values of some fields.
 *
 * @param others what differs from an index of pointers to all rows that have these values.
 */
export function hiddenIndex(
  name: string,
  place: string,
  fields: readonly string[],
  others: Partial<CompiledIndex>,
): CompiledIndex {
  return {
    name,
    prefix: place,
    place,
    parts: fields.map(plainPart),
    fields,
    unique: false,
    each: undefined,
    where: undefined,
    condition: undefined,
    reads: undefined,
    keyFields: new Set(fields),
    store: "pointer",
    include: [],
    declaredInclude: [],
    inKey: new Map(),
    counted: false,
    sums: [],
    ranked: false,
    extremes: new Map(),
    isHidden: true,
    unmarked: undefined,
    version: undefined,
    text: undefined,
    ...others,
  };
}
