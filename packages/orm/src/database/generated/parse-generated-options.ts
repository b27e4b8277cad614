import { isPlainObject } from "../../context/is-plain-object.js";
import type { TableContext } from "../../context/table-context.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { namedIndex } from "../../query/plan/named-index.js";
import { type CallOptions, generatedOptions, type RepositoryMethod } from "../call-options.js";
import { parseOptions } from "../parse-options.js";
import { withUpsertKey } from "./upsert-key.js";

/**
 * Returns the options of a call of a generated repository as those of any repository. There, the
 * conditions on an index are about its parts, and an upsert creates only rows with its key.
 *
 * @throws {UnknownIndexError} if the model has no index of the name.
 * @throws {InvalidQueryError} if a condition is on a field that the index does not have, or if no
 * row can have a value of an upsert's key.
 * @throws the errors of `parseOptions`.
 */
export function parseGeneratedOptions(
  context: TableContext,
  method: RepositoryMethod,
  argument: unknown,
): CallOptions {
  const options = parseOptions(context, method, argument, generatedOptions);
  if (method === "upsert") return withUpsertKey(context, options);
  const { index, where } = options;
  if (index === undefined || method === "findUnique" || method === "watch") return options;
  return { ...options, where: conditionsOn(context.model, index, where) };
}

/**
 * Converts conditions on the first parts of an index to the `where` of a query. An element becomes
 * `{ has: element }`. Empty bounds, `{}`, restrict nothing and are left out.
 */
function conditionsOn(model: CompiledModel, indexName: string, conditions: unknown): AnyRow {
  const index = namedIndex(model, indexName);
  if (!isPlainObject(conditions)) {
    throw new InvalidQueryError(model.name, "where", "it has to be a plain object");
  }
  const where: Record<string, unknown> = {};
  for (const field of Object.keys(conditions)) {
    const position = index.fields.indexOf(field);
    if (position < 0) {
      const reason = `the index ${index.name} has no such field: it has ${index.fields.join(", ")}`;
      throw new InvalidQueryError(model.name, field, reason);
    }
    const condition = conditions[field];
    if (isPlainObject(condition) && Object.keys(condition).length === 0) continue;
    where[field] = index.each === position ? { has: condition } : condition;
  }
  return where;
}
