import { InvalidQueryError } from "../../../errors/query-errors.js";
import type { AnyRow, CompiledModel } from "../../../model/compiled-model.js";
import { isPlainObject } from "../../../model/is-plain-object.js";
import { namedIndex } from "../../../state/schema/named-index.js";

/**
 * Returns the `where` of a query for conditions on the first fields of an index, or of the primary
 * key if no index is named. A condition on an array is about its elements, and becomes
 * `{ has: element }`. Empty bounds, `{}`, restrict nothing and are left out.
 *
 * @throws {UnknownIndexError} if the model has no index of the name.
 * @throws {InvalidQueryError} if a condition is on a field that the key does not have.
 */
export function keyConditions(
  model: CompiledModel,
  indexName: string | undefined,
  conditions: unknown,
): AnyRow {
  const index = indexName === undefined ? undefined : namedIndex(model, indexName);
  if (!isPlainObject(conditions)) {
    throw new InvalidQueryError(model.name, "where", "it must be a plain object");
  }
  const fields = index?.fields ?? model.primaryKey;
  const where: Record<string, unknown> = {};
  for (const field of Object.keys(conditions)) {
    const position = fields.indexOf(field);
    if (position < 0) {
      const label = index === undefined ? "the primary key" : `the index ${index.name}`;
      const reason = `${label} has no such field: it has ${fields.join(", ")}`;
      throw new InvalidQueryError(model.name, field, reason);
    }
    const condition = conditions[field];
    if (isPlainObject(condition) && Object.keys(condition).length === 0) continue;
    where[field] = index?.each === position ? { has: condition } : condition;
  }
  return where;
}
