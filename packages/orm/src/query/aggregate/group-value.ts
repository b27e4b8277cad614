import type { KvKeyPart } from "@keywright/core";
import { ascendingPart } from "../../indexes/key-parts.js";
import type { CompiledModel, CompiledPart } from "../../model/compiled-model.js";
import { valueKinds } from "../../model/fields/key-kinds.js";
import { definitionOf } from "../../model/fields/schema-definition.js";

/**
 * Returns a function from the part of a key to the value of a field. A normalized or computed part
 * is returned as it is in the key.
 */
export function groupValue(
  { schema }: CompiledModel,
  { field, descending, descendingOrder, compute, normalize }: CompiledPart,
): (part: KvKeyPart) => unknown {
  const type = compute === undefined && normalize === undefined ? schema.shape[field] : undefined;
  const isDate = type !== undefined && valueKinds(type).every(isDateKind);
  return (part) => {
    const value = descending ? (ascendingPart(part, descendingOrder) ?? part) : part;
    return isDate && typeof value === "number" ? new Date(value) : value;
  };
}

function isDateKind(kind: Parameters<typeof definitionOf>[0]): boolean {
  return definitionOf(kind).type === "date";
}
