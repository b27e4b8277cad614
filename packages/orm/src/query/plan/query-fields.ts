import type { AnyOrder, AnyQuery, Direction } from "../../context/any-query.js";
import { isPlainObject } from "../../context/is-plain-object.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { type Condition, parseCondition } from "./condition.js";

/** What a query says of fields, checked as far as that goes without an index. */
export interface QueryFields {
  readonly conditions: ReadonlyMap<string, Condition>;
  /** The fields of the order, each once. */
  readonly order: ReadonlyMap<string, Direction>;
}

/**
 * Reads the conditions and the order of a query.
 *
 * @throws {InvalidQueryError} for what is no plain object, a field that the model does not have, a condition that is none,
 * and a direction other than `"asc"` and `"desc"`.
 */
export function queryFields(
  model: CompiledModel,
  { where, orderBy }: Pick<AnyQuery, "where" | "orderBy">,
): QueryFields {
  const conditions = new Map<string, Condition>();
  if (where !== undefined) {
    if (!isPlainObject(where)) {
      throw new InvalidQueryError(model.name, "where", "it has to be a plain object");
    }
    for (const field of Object.keys(where)) {
      assertField(model, field);
      conditions.set(field, parseCondition(model, field, where[field]));
    }
  }
  return { conditions, order: orderOf(model, orderBy) };
}

function orderOf(model: CompiledModel, orderBy: AnyQuery["orderBy"]): Map<string, Direction> {
  const order = new Map<string, Direction>();
  if (orderBy === undefined) return order;
  const list = (Array.isArray(orderBy) ? orderBy : [orderBy]) as readonly AnyOrder[];
  for (const fields of list) {
    if (!isPlainObject(fields)) {
      const reason = "it has to be a plain object, or a list of them";
      throw new InvalidQueryError(model.name, "orderBy", reason);
    }
    for (const field of Object.keys(fields)) {
      const direction: unknown = fields[field];
      if (direction === undefined) continue;
      assertField(model, field);
      if (direction !== "asc" && direction !== "desc") {
        throw new InvalidQueryError(model.name, field, 'its direction is neither "asc" nor "desc"');
      }
      // Behind itself a field orders nothing.
      if (!order.has(field)) order.set(field, direction);
    }
  }
  return order;
}

function assertField(model: CompiledModel, field: string): void {
  if (Object.hasOwn(model.schema.shape, field)) return;
  if (model.indexes.some(({ fields }) => fields.includes(field))) return;
  throw new InvalidQueryError(model.name, field, "the model has no such field");
}
