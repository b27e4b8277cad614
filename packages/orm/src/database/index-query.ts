import { UnknownIndexError } from "../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import type { AnyQuery, Direction } from "../query/any-query.js";
import { isPlainObject } from "../query/is-plain-object.js";

/**
 * The query of the rows with some values in the first fields of an index, as a repository's methods take it. Bounds that are
 * none say nothing, and are left out.
 *
 * @param order of the index.
 */
export function indexQuery(
  index: CompiledIndex,
  values: readonly unknown[],
  order?: Direction,
): AnyQuery {
  const where: Record<string, unknown> = {};
  for (const [i, field] of index.fields.entries()) {
    const value = values[i];
    if (value === undefined || isOpen(value)) continue;
    where[field] = index.each === i ? { has: value } : value;
  }
  const query = { index: index.name, where };
  return order === undefined ? query : { ...query, orderBy: orderOf(index, order) };
}

function isOpen(value: unknown): boolean {
  return isPlainObject(value) && Object.values(value).every((bound) => bound === undefined);
}

/** The order of an index as that of its first field, which may be sorted from the last value to the first. */
function orderOf({ parts }: CompiledIndex, order: Direction): AnyQuery["orderBy"] {
  const [first] = parts;
  if (first === undefined) return undefined;
  const isBackward = (order === "desc") !== first.descending;
  return { [first.field]: isBackward ? "desc" : "asc" };
}

/** @throws {UnknownIndexError} for a name that the model does not have, or not of a unique index. */
export function indexNamed(model: CompiledModel, name: string, unique = false): CompiledIndex {
  const candidates = model.indexes.filter((index) => index.unique || !unique);
  const index = candidates.find((candidate) => candidate.name === name);
  if (index !== undefined) return index;
  const known = candidates.map((candidate) => candidate.name);
  throw new UnknownIndexError(model.name, name, known);
}
