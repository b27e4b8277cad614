import { UnknownIndexError } from "../../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { hashOf } from "./manifests/hash.js";

/**
 * Returns the indexes of the name that a query states: the one of the model, and its earlier
 * definition if the database still has it and it has the same rows in the same order.
 *
 * @throws {UnknownIndexError} if the model has no such index, or if it is not unique but `unique`
 * is true.
 */
export function namedIndexes(
  model: CompiledModel,
  name: string,
  unique = false,
): readonly CompiledIndex[] {
  const isCandidate = (index: CompiledIndex) => index.unique || !unique;
  const [first, ...others] = model.indexes.filter(
    (other) => other.name === name && isCandidate(other),
  );
  if (first !== undefined)
    return [first, ...others.filter((other) => hasSameRows(model, first, other))];
  const known = model.indexes
    .filter((other) => isCandidate(other) && !other.isHidden)
    .map((other) => other.name);
  throw new UnknownIndexError(model.name, String(name), known);
}

/**
 * Returns the index that a query names.
 *
 * @throws {UnknownIndexError} if the model has no such index.
 */
export function namedIndex(model: CompiledModel, name: string): CompiledIndex {
  return namedIndexes(model, name)[0]!;
}

function hasSameRows(model: CompiledModel, a: CompiledIndex, b: CompiledIndex): boolean {
  return (
    hashOf(orderOf(a)) === hashOf(orderOf(b)) &&
    hashOf(a.condition ?? null) === hashOf(b.condition ?? null) &&
    (a.condition !== undefined || a.where === b.where) &&
    (b.unmarked === undefined || b.unmarked === a.unmarked) &&
    hashOf(absentParts(model, a)) === hashOf(absentParts(model, b))
  );
}

function orderOf({ parts, each }: CompiledIndex): readonly unknown[] {
  return parts.map(({ field, descending }, position) => [field, descending, position === each]);
}

/** Returns the parts without which a row is not in an index, and that a row may lack. */
function absentParts({ optionalFields }: CompiledModel, { parts, each }: CompiledIndex): string[] {
  return parts
    .filter(({ field, compute }, position) => {
      return compute !== undefined || position === each || optionalFields.has(field);
    })
    .map(({ field }) => field)
    .sort();
}
