import type { KvKeyPart } from "@keywright/core";
import { keyPartOf } from "../../indexes/key-parts.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { assertWellFormed, queriedPart } from "./queried-part.js";

/** One part of the keys of an index, or of the rows, behind their prefix. */
export interface KeyField {
  /** By which queries name it. */
  readonly name: string;
  readonly descending: boolean;
  /** A part with an element of an array. */
  readonly isElement: boolean;
  readonly isComputed: boolean;
  /** What stands in the key is what the index's `normalize` makes of a value. */
  readonly isNormalized: boolean;
  /** The place of an earlier part that always has the same value; undefined where there is none. */
  readonly sameAs: number | undefined;
  /**
   * What stands in the key for a value that a key can hold.
   *
   * @throws {InvalidQueryError} for a string with a lone surrogate, and one that the index's `normalize` does not take.
   */
  readonly partOf: (value: unknown) => KvKeyPart;
}

const ofIndexes = new WeakMap<CompiledIndex, readonly KeyField[]>();
const ofModels = new WeakMap<CompiledModel, readonly KeyField[]>();

/**
 * The parts of the keys of an index that queries can name, in order, or of the rows where it is undefined. Behind those of
 * a non-unique index come those of the primary key.
 */
export function keyFields(
  model: CompiledModel,
  index: CompiledIndex | undefined,
): readonly KeyField[] {
  const known = index === undefined ? ofModels.get(model) : ofIndexes.get(index);
  if (known !== undefined) return known;
  const behind = index?.unique ? [] : primaryKeyFields(model, index);
  if (index === undefined) {
    ofModels.set(model, behind);
    return behind;
  }
  const own = index.parts.map(
    ({ field, descending, compute, normalize }, position): KeyField => ({
      name: field,
      descending,
      isElement: index.each === position,
      isComputed: compute !== undefined,
      isNormalized: normalize !== undefined,
      sameAs: undefined,
      partOf: (value) => queriedPart(model, index, position, value),
    }),
  );
  const fields = [...own, ...behind];
  ofIndexes.set(index, fields);
  return fields;
}

function primaryKeyFields(model: CompiledModel, index: CompiledIndex | undefined): KeyField[] {
  const fields: KeyField[] = [];
  for (const name of model.primaryKey) {
    const earlier = index?.fields.indexOf(name) ?? -1;
    // What was normalized may be the same for different values, and the query's name means what was normalized.
    if (index?.parts[earlier]?.normalize !== undefined) return fields;
    fields.push({
      name,
      descending: false,
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
