import type { AnyQuery, Direction } from "../../context/any-query.js";
import { isPlainObject } from "../../context/is-plain-object.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import { UnknownIndexError } from "../../errors/schema-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";

/** Conditions on the first fields of an index, by the names of the fields or in their order. */
export type IndexConditions = AnyRow | readonly unknown[];

/**
 * Converts conditions on the first fields of an index to the `where` of a repository's query. Empty
 * bounds, `{}`, restrict nothing and are left out.
 *
 * @throws {InvalidQueryError} if the conditions are neither an object nor a list, or if they name a
 * field that the index does not have.
 */
export function whereOfIndex(
  model: CompiledModel,
  index: CompiledIndex,
  conditions: IndexConditions,
): AnyRow {
  const named = Array.isArray(conditions) ? nameValues(model, index, conditions) : conditions;
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
    if (isEmptyCondition(condition)) continue;
    where[field] = index.each === position ? { has: condition } : condition;
  }
  return where;
}

/**
 * Returns the query for the rows that match the result of {@link whereOfIndex}, in the order of the
 * index.
 */
export function indexQuery(
  index: CompiledIndex,
  where: AnyRow,
  order: Direction | undefined,
): AnyQuery {
  const query = { index: index.name, where };
  return order === undefined ? query : { ...query, orderBy: orderOf(index, order) };
}

function nameValues(model: CompiledModel, { fields }: CompiledIndex, values: readonly unknown[]) {
  if (values.length > fields.length) {
    const reason = `it has ${fields.length} fields, and ${values.length} values were given`;
    throw new InvalidQueryError(model.name, "where", reason);
  }
  return Object.fromEntries(Array.from(values, (value, i) => [fields[i]!, value]));
}

function isEmptyCondition(condition: unknown): boolean {
  return isPlainObject(condition) && Object.keys(condition).length === 0;
}

/**
 * Returns the order of an index as the `orderBy` of its first field. A field can itself be sorted
 * in descending order.
 */
function orderOf({ parts }: CompiledIndex, order: Direction): AnyQuery["orderBy"] {
  const [first] = parts;
  if (first === undefined) return undefined;
  const isBackward = (order === "desc") !== first.descending;
  return { [first.field]: isBackward ? "desc" : "asc" };
}

/**
 * Returns true for descending order.
 *
 * @throws {InvalidQueryError} if the order is neither `"asc"` nor `"desc"`.
 */
export function isDescending(model: CompiledModel, order: Direction | undefined): boolean {
  if (order === undefined || order === "asc") return false;
  if (order === "desc") return true;
  throw new InvalidQueryError(model.name, "order", 'it is neither "asc" nor "desc"');
}

/**
 * @throws {UnknownIndexError} if the model has no index of this name, or if it is not unique but
 * `unique` is true.
 */
export function indexNamed(model: CompiledModel, name: string, unique = false): CompiledIndex {
  const candidates = model.indexes.filter((index) => index.unique || !unique);
  const index = candidates.find((candidate) => candidate.name === name);
  if (index !== undefined) return index;
  const known = candidates.map((candidate) => candidate.name);
  throw new UnknownIndexError(model.name, name, known);
}
