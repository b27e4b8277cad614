import type { AnyOrder, AnyQuery, Direction } from "../../context/any-query.js";
import { isPlainObject } from "../../context/is-plain-object.js";
import { knownNames } from "../../errors/nearest-name.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { type FieldCondition, parseCondition } from "./field-condition.js";

/** The conditions and the order of a query, after the checks that need no index. */
export interface QueryFields {
  readonly conditions: ReadonlyMap<string, FieldCondition>;
  /** The fields of the order with their directions, most significant first. */
  readonly order: ReadonlyMap<string, Direction>;
  /** The direction in which an index is read. Undefined if `order` determines it. */
  readonly direction?: Direction | undefined;
}

export function parseQueryFields(
  model: CompiledModel,
  { where, orderBy, order }: Pick<AnyQuery, "where" | "orderBy" | "order">,
): QueryFields {
  const conditions = new Map<string, FieldCondition>();
  if (where !== undefined) {
    if (!isPlainObject(where)) {
      throw new InvalidQueryError(model.name, "where", "it must be a plain object");
    }
    for (const field of Object.keys(where)) {
      assertField(model, field);
      conditions.set(field, parseCondition(model, field, where[field]));
    }
  }
  if (order !== undefined && order !== "asc" && order !== "desc") {
    throw new InvalidQueryError(model.name, "order", 'it is neither "asc" nor "desc"');
  }
  return { conditions, order: parseOrder(model, orderBy), direction: order };
}

function parseOrder(model: CompiledModel, orderBy: AnyQuery["orderBy"]): Map<string, Direction> {
  const order = new Map<string, Direction>();
  if (orderBy === undefined) return order;
  const list = (Array.isArray(orderBy) ? orderBy : [orderBy]) as readonly AnyOrder[];
  for (const fields of list) {
    if (!isPlainObject(fields)) {
      const reason = "it must be a plain object, or a list of them";
      throw new InvalidQueryError(model.name, "orderBy", reason);
    }
    for (const field of Object.keys(fields)) {
      const direction: unknown = fields[field];
      if (direction === undefined) continue;
      assertField(model, field);
      if (direction !== "asc" && direction !== "desc") {
        throw new InvalidQueryError(model.name, field, 'its direction must be "asc" or "desc"');
      }
      // A field that occurs again does not affect the order.
      if (!order.has(field)) order.set(field, direction);
    }
  }
  return order;
}

export function assertField(model: CompiledModel, field: string): void {
  if (Object.hasOwn(model.schema.shape, field)) return;
  if (model.indexes.some(({ fields }) => fields.includes(field))) return;
  const names = [
    ...Object.keys(model.schema.shape),
    ...model.indexes.flatMap(({ fields }) => fields),
  ];
  const reason = `the model has no such field; ${knownNames(field, new Set(names), "fields")}`;
  throw new InvalidQueryError(model.name, field, reason);
}
