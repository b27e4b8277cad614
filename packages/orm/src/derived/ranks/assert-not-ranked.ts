import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";

/**
 * Refuses a row that expires, if an index of the model is ranked. The database removes the row
 * without a commit, so nothing could subtract it from the intervals, whose boundaries change.
 *
 * @throws {InvalidArgumentError} if an index is ranked.
 */
export function assertNotRanked({ name, indexes }: CompiledModel): void {
  const index = indexes.find(({ ranked }) => ranked);
  if (index === undefined) return;
  const reason = `rows of a model with a ranked index cannot expire; remove ranked from the index ${index.name}, or delete the rows`;
  throw new InvalidArgumentError(name, "expireIn", reason);
}
