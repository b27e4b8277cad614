import type { AnyQuery, Direction } from "../../context/any-query.js";
import { isPlainObject } from "../../context/is-plain-object.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import { UnknownIndexError } from "../../errors/schema-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";

/** Conditions on the first fields of an index: by their names, or in their order. */
export type IndexConditions = AnyRow | readonly unknown[];

/**
 * Conditions on the first fields of an index, as the `where` of a repository's query has them. Bounds that are none, `{}`,
 * say nothing, and are left out.
 *
 * @throws {InvalidQueryError} for what is neither an object nor a list, and for fields that the index does not have.
 */
export function whereOfIndex(
  model: CompiledModel,
  index: CompiledIndex,
  given: IndexConditions,
): AnyRow {
  const named = Array.isArray(given) ? byName(model, index, given) : given;
  if (!isPlainObject(named)) {
    throw new InvalidQueryError(model.name, "where", "it has to be a plain object");
  }
  const where: Record<string, unknown> = {};
  for (const field of Object.keys(named)) {
    const position = index.fields.indexOf(field);
    if (position < 0) {
      const reason = `the index ${index.name} has no such field: it has ${index.fields.join(", ")}`;
      throw new InvalidQueryError(model.name, field, reason);
    }
    const condition = named[field];
    if (isOpen(condition)) continue;
    where[field] = index.each === position ? { has: condition } : condition;
  }
  return where;
}

/** The query of the rows with {@link whereOfIndex}, in the order of the index. */
export function indexQuery(
  index: CompiledIndex,
  where: AnyRow,
  order: Direction | undefined,
): AnyQuery {
  const query = { index: index.name, where };
  return order === undefined ? query : { ...query, orderBy: orderOf(index, order) };
}

function byName(model: CompiledModel, { fields }: CompiledIndex, given: readonly unknown[]) {
  if (given.length > fields.length) {
    const reason = `it has ${fields.length} fields, and ${given.length} values were given`;
    throw new InvalidQueryError(model.name, "where", reason);
  }
  return Object.fromEntries(Array.from(given, (value, i) => [fields[i]!, value]));
}

function isOpen(condition: unknown): boolean {
  return isPlainObject(condition) && Object.keys(condition).length === 0;
}

/** The order of an index as that of its first field, which may be sorted from the last value to the first. */
function orderOf({ parts }: CompiledIndex, order: Direction): AnyQuery["orderBy"] {
  const [first] = parts;
  if (first === undefined) return undefined;
  const isBackward = (order === "desc") !== first.descending;
  return { [first.field]: isBackward ? "desc" : "asc" };
}

/**
 * Whether an order is from the last to the first.
 *
 * @throws {InvalidQueryError} for what is no direction.
 */
export function isDescending(model: CompiledModel, order: Direction | undefined): boolean {
  if (order === undefined || order === "asc") return false;
  if (order === "desc") return true;
  throw new InvalidQueryError(model.name, "order", 'it is neither "asc" nor "desc"');
}

/** @throws {UnknownIndexError} for a name that the model does not have, or not of a unique index. */
export function indexNamed(model: CompiledModel, name: string, unique = false): CompiledIndex {
  const candidates = model.indexes.filter((index) => index.unique || !unique);
  const index = candidates.find((candidate) => candidate.name === name);
  if (index !== undefined) return index;
  const known = candidates.map((candidate) => candidate.name);
  throw new UnknownIndexError(model.name, name, known);
}
