import { knownNames } from "../../../errors/nearest-name.js";
import { InvalidQueryError } from "../../../errors/query-errors.js";
import type { AnyRow, CompiledModel } from "../../../model/compiled-model.js";
import { canBeAbsent } from "../../../model/fields/field-schema.js";
import { isPlainObject } from "../../../model/is-plain-object.js";
import type { AnyOrder, AnyQuery, Direction } from "../../../state/context/any-query.js";
import { type FieldCondition, isAbsentCondition, parseCondition } from "./field-condition.js";

/** The conditions and the order of a query, after the checks that need no index. */
export interface QueryFields {
  readonly conditions: ReadonlyMap<string, FieldCondition>;
  /** The fields of the order with their directions, most significant first. */
  readonly order: ReadonlyMap<string, Direction>;
  /** The direction in which an index is read. Undefined if `order` determines it. */
  readonly direction?: Direction | undefined;
}

/**
 * Returns the alternatives of a query: one for each member of `OR`, with the conditions outside it.
 * A query without `OR` has one. All have the same order.
 *
 * @throws {InvalidQueryError} if a condition or the order is not valid.
 */
export function parseQuery(
  model: CompiledModel,
  { where = {}, orderBy, order: direction }: Pick<AnyQuery, "where" | "orderBy" | "order">,
): readonly [QueryFields, ...QueryFields[]] {
  const alternatives: ReadonlyMap<string, FieldCondition>[] = [];
  for (const each of alternativesOf(model, where)) alternatives.push(parseConditions(model, each));
  if (direction !== undefined && direction !== "asc" && direction !== "desc") {
    throw new InvalidQueryError(model.name, "order", 'it is neither "asc" nor "desc"');
  }
  const order = orderBy === undefined ? noOrder : parseOrder(model, orderBy);
  const parsed: QueryFields[] = [];
  for (const conditions of alternatives) parsed.push({ conditions, order, direction });
  return parsed as [QueryFields, ...QueryFields[]];
}

const noOrder: ReadonlyMap<string, Direction> = new Map();

/**
 * Returns the conditions of each member of `OR` together with those outside it.
 *
 * @throws {InvalidQueryError} if `OR` is not a list of conditions, or if one of them is on a field
 * that also has a condition outside.
 */
export function alternativesOf(model: CompiledModel, where: AnyRow): readonly AnyRow[] {
  if (!isPlainObject(where)) {
    throw new InvalidQueryError(model.name, "where", "it must be a plain object");
  }
  if (!Object.hasOwn(where, "OR") || Object.hasOwn(model.schema.shape, "OR")) return [where];
  const fail = (place: string, reason: string): never => {
    throw new InvalidQueryError(model.name, place, reason);
  };
  const { OR: members, ...common } = where;
  if (!Array.isArray(members)) return fail("OR", "it must be a list of objects with conditions");
  if (members.length === 0) fail("OR", "it is an empty list, which no row can match");
  return members.map((member: unknown, position) => {
    const place = `OR[${position}]`;
    if (!isPlainObject(member)) return fail(place, "it must be a plain object");
    const fields = Object.keys(member);
    if (fields.length === 0) fail(place, "it has no condition; add one, or leave OR out");
    if (fields.includes("OR")) fail(place, "it contains OR; put its members into the outer OR");
    const twice = fields.find((field) => Object.hasOwn(common, field));
    if (twice !== undefined) {
      fail(`${place}.${twice}`, "the field also has a condition outside OR; give it only one");
    }
    return { ...common, ...member };
  });
}

function parseConditions(model: CompiledModel, where: AnyRow): Map<string, FieldCondition> {
  const conditions = new Map<string, FieldCondition>();
  for (const field of Object.keys(where)) {
    assertField(model, field);
    const condition = where[field];
    const schema = Object.hasOwn(model.schema.shape, field) ? model.schema.shape[field] : undefined;
    const isForAbsent = condition === null && schema !== undefined && canBeAbsent(schema);
    conditions.set(
      field,
      isForAbsent ? isAbsentCondition : parseCondition(model, field, condition),
    );
  }
  return conditions;
}

function parseOrder(model: CompiledModel, orderBy: AnyQuery["orderBy"]): Map<string, Direction> {
  const order = new Map<string, Direction>();
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

/** Says how to write the operators of other query languages. */
const operatorAdvice: ReadonlyMap<string, string> = new Map([
  ["AND", "all conditions of a where apply, so write them in one object"],
  ["NOT", "test it in filter: (row) => …"],
]);

const relationAdvice =
  "it is a relation, and conditions on related rows are for findMany, findFirst, count, exists, watchMany, updateMany and deleteMany";

export function assertField(model: CompiledModel, field: string): void {
  if (Object.hasOwn(model.schema.shape, field)) return;
  if (model.indexes.some(({ fields }) => fields.includes(field))) return;
  const names = [
    ...Object.keys(model.schema.shape),
    ...model.indexes.flatMap(({ fields }) => fields),
  ];
  const ofRelation = Object.hasOwn(model.relations, field) ? relationAdvice : undefined;
  const advice =
    operatorAdvice.get(field) ?? ofRelation ?? knownNames(field, new Set(names), "fields");
  throw new InvalidQueryError(model.name, field, `the model has no such field; ${advice}`);
}
