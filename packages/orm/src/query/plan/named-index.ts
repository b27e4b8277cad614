import { UnknownIndexError } from "../../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";

/**
 * Returns the index that a query names.
 *
 * @throws {UnknownIndexError} if the model has no such index, or if it is not unique but `unique`
 * is true.
 */
export function namedIndex(model: CompiledModel, name: string, unique = false): CompiledIndex {
  const isCandidate = (index: CompiledIndex) => index.unique || !unique;
  const index = model.indexes.find((other) => other.name === name && isCandidate(other));
  if (index !== undefined) return index;
  const known = model.indexes.filter(isCandidate).map((other) => other.name);
  throw new UnknownIndexError(model.name, String(name), known);
}
