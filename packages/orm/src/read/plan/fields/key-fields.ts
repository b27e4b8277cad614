import { type KeyOrder, type KvKeyPart, specificationOrder } from "@keywright/core";
import type { CompiledIndex, CompiledModel } from "../../../model/compiled-model.js";
import { keyPartOf } from "../../../model/keys/key-parts.js";
import { assertWellFormed, queriedPart } from "./queried-value.js";

/** One part of the keys of an index, or of the rows, after the prefix. */
export interface KeyField {
  readonly name: string;
  readonly descending: boolean;
  /** The order that the part reverses if it is descending. */
  readonly descendingOrder: KeyOrder;
  readonly isElement: boolean;
  readonly isComputed: boolean;
  readonly isNormalized: boolean;
  /** The position of an earlier part that always has the same value. Undefined if there is none. */
  readonly sameAs: number | undefined;
  /** Returns the key part for a value that a key can hold. */
  readonly partOf: (value: unknown) => KvKeyPart;
}

const fieldsOfIndexes = new WeakMap<CompiledIndex, readonly KeyField[]>();
const fieldsOfModels = new WeakMap<CompiledModel, readonly KeyField[]>();

/**
 * Returns the parts of an index's keys that queries can name, in order. If the index is not unique,
 * the parts of the primary key come last. If `index` is undefined, returns the parts of the rows'
 * keys.
 */
export function keyFields(
  model: CompiledModel,
  index: CompiledIndex | undefined,
): readonly KeyField[] {
  const cached = index === undefined ? fieldsOfModels.get(model) : fieldsOfIndexes.get(index);
  if (cached !== undefined) return cached;
  const primaryKeyParts = index?.unique ? [] : primaryKeyFields(model, index);
  if (index === undefined) {
    fieldsOfModels.set(model, primaryKeyParts);
    return primaryKeyParts;
  }
  const indexParts = index.parts.map(
    ({ field, descending, descendingOrder, compute, normalize }, position): KeyField => ({
      name: field,
      descending,
      descendingOrder,
      isElement: index.each === position,
      isComputed: compute !== undefined,
      isNormalized: normalize !== undefined,
      sameAs: undefined,
      partOf: (value) => queriedPart(model, index, position, value),
    }),
  );
  const fields = [...indexParts, ...primaryKeyParts];
  fieldsOfIndexes.set(index, fields);
  return fields;
}

function primaryKeyFields(model: CompiledModel, index: CompiledIndex | undefined): KeyField[] {
  const fields: KeyField[] = [];
  for (const name of model.primaryKey) {
    const earlier = index?.fields.indexOf(name) ?? -1;
    // In a query, the name of this field means the normalized part of the index. Different values
    // may have the same normalized part, so this part of the primary key does not follow from it.
    // Queries cannot name it or the parts after it.
    if (index?.parts[earlier]?.normalize !== undefined) return fields;
    fields.push({
      name,
      descending: false,
      descendingOrder: specificationOrder,
      isElement: false,
      isComputed: false,
      isNormalized: false,
      sameAs: earlier < 0 ? undefined : earlier,
      partOf: (value) => {
        assertWellFormed(model, name, value);
        return keyPartOf(value) as KvKeyPart;
      },
    });
  }
  return fields;
}
