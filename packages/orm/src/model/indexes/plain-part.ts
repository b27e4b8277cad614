import { specificationOrder } from "@keywright/core";
import type { CompiledPart } from "../compiled-model.js";

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
