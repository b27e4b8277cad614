import { type KeyOrder, specificationOrder } from "@keywright/core";
import type { AnyQuery, Direction } from "../../context/any-query.js";
import { InvalidQueryError, UnindexedQueryError } from "../../errors/query-errors.js";
import { UnknownIndexError } from "../../errors/schema-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { canBeList, isList } from "../../model/key-kinds.js";
import type { Condition } from "./condition.js";
import { holdsSelection } from "./covered-read.js";
import { type KeyField, keyFields } from "./key-fields.js";
import { type QueryFields, queryFields } from "./query-fields.js";
import type { QueryPlan } from "./query-plan.js";
import { assertFits, segmentsOf } from "./segments.js";
import { type ExistingKey, suggestIndex } from "./suggest-index.js";
import { assertKinds } from "./value-kinds.js";

/** What of a query its plan depends on. */
export type PlannedQuery = Pick<AnyQuery, "where" | "orderBy" | "index" | "select">;

/**
 * The plans that serve a query, best first: those that pin the most fields, then those that need not read rows beside the
 * index, then those of unique indexes, then in the order in which the model has them.
 *
 * @param order in which the database sorts its keys; asked for where it makes a difference.
 * @throws {UnindexedQueryError} where there is none.
 * @throws {InvalidQueryError} for a query that says nothing, or nothing that can be looked up.
 * @throws {UnknownIndexError} for an index that the model does not have.
 */
export function planQuery(
  model: CompiledModel,
  query: PlannedQuery,
  order: () => KeyOrder = () => specificationOrder,
): QueryPlan[] {
  const fields = queryFields(model, query);
  const isForced = query.index !== undefined;
  if (!isForced && fields.conditions.size + fields.order.size === 0) {
    const reason = "the query says nothing: a whole table is read by scan()";
    throw new InvalidQueryError(model.name, "where", reason);
  }
  const candidates = isForced ? [indexOf(model, query.index)] : [undefined, ...model.indexes];
  const plans: QueryPlan[] = [];
  for (const index of candidates) {
    const plan = planOf(model, index, fields, order);
    if (plan && (isForced || isComplete(model, index, fields))) plans.push(plan);
  }
  if (plans.length === 0) throw unindexed(model, fields);
  if (plans.length === 1) return plans;
  const rank = ({ index, segments }: QueryPlan) => [
    pinnedFields(segments),
    Number(index === undefined || holdsSelection(index, query.select)),
    Number(index === undefined || index.unique),
  ];
  return plans
    .map((plan) => ({ plan, rank: rank(plan) }))
    .sort((a, b) => compareRanks(b.rank, a.rank))
    .map(({ plan }) => plan);
}

/**
 * The plan of all rows in the order of the primary key, or the reverse of it.
 *
 * @throws {InvalidQueryError} for another order, and for conditions.
 */
export function planScan(model: CompiledModel, query: PlannedQuery): QueryPlan {
  const fields = queryFields(model, query);
  for (const field of fields.conditions.keys()) {
    throw new InvalidQueryError(model.name, field, "scan() has no where: use findMany, or filter");
  }
  const plan = planOf(model, undefined, fields, () => specificationOrder);
  if (plan !== undefined) return plan;
  const reason = "scan() is in the order of the primary key";
  throw new InvalidQueryError(model.name, [...fields.order.keys()].join(), reason);
}

/**
 * The plan of an index read by conditions on its first fields, in its own order.
 *
 * @param where of the index's fields alone; without any it is the whole index.
 * @param order in which the database sorts its keys; asked for where it makes a difference.
 * @throws {UnindexedQueryError} for a condition behind bounds, or behind a field without one.
 * @throws {InvalidQueryError} for what is no condition, or of another kind than the field's values.
 */
export function planIndexRead(
  model: CompiledModel,
  index: CompiledIndex,
  where: AnyRow,
  reverse: boolean,
  order: () => KeyOrder = () => specificationOrder,
): QueryPlan {
  const fields = queryFields(model, { where });
  const plan = planOf(model, index, fields, order);
  if (plan === undefined) throw unindexed(model, fields);
  assertKinds(model, where, [plan]);
  return { ...plan, reverse };
}

function indexOf(model: CompiledModel, name: string | undefined): CompiledIndex {
  const index = model.indexes.find((candidate) => candidate.name === name);
  if (index !== undefined) return index;
  throw new UnknownIndexError(
    model.name,
    String(name),
    model.indexes.map((candidate) => candidate.name),
  );
}

/** How an index serves a query: values for its first fields, bounds on the next, then the order asked for. */
function planOf(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  { conditions, order: ordered }: QueryFields,
  order: () => KeyOrder,
): QueryPlan | undefined {
  const fields = keyFields(model, index);
  if (!isServed(fields, conditions)) return undefined;
  const reverse = directionOf(fields, conditions, ordered);
  if (reverse === undefined) return undefined;
  return { model, index, segments: segmentsOf(model, fields, conditions, order), reverse };
}

/** Whether conditions are on the first of some fields, bounds on the last of them alone. */
function isServed(
  fields: readonly KeyField[],
  conditions: ReadonlyMap<string, Condition>,
): boolean {
  let served = 0;
  for (const { name, sameAs } of fields) {
    if (served === conditions.size) return true;
    if (sameAs !== undefined) continue;
    const condition = conditions.get(name);
    if (condition === undefined) return false;
    served++;
    if (condition.values === undefined) break;
  }
  return served === conditions.size;
}

/** Whether the keys are to be read backward for an order; undefined where they are not in that order at all. */
function directionOf(
  fields: readonly KeyField[],
  conditions: ReadonlyMap<string, Condition>,
  ordered: ReadonlyMap<string, Direction>,
): boolean | undefined {
  if (ordered.size === 0) return false;
  const isPinned = ({ name }: KeyField) => conditions.get(name)?.isEqual === true;
  const free = [...ordered.keys()].filter(
    (name) => !fields.some((field) => field.name === name && isPinned(field)),
  );
  const behind = fields.filter((field) => field.sameAs === undefined && !isPinned(field));
  const isBackward = (field: KeyField) => (ordered.get(field.name) === "desc") !== field.descending;
  if (free.length === 0) {
    // One value has no order, and yet the query may say which way to go through what is behind it.
    const first = fields.find(({ name }) => ordered.has(name));
    return first !== undefined && isBackward(first);
  }
  const reverse = behind[0] !== undefined && isBackward(behind[0]);
  const isInOrder = free.every((name, i) => {
    const field = behind[i];
    return field?.name === name && isBackward(field) === reverse;
  });
  return isInOrder ? reverse : undefined;
}

/**
 * Whether an index has every row that a query means, and only those: a row that lacks a field of the index is not in it,
 * and one with an array may be there several times.
 */
function isComplete(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  { conditions, order }: QueryFields,
): boolean {
  if (index === undefined) return true;
  if (index.where !== undefined) return false;
  return index.parts.every(({ field, compute }, position) => {
    if (conditions.has(field)) return true;
    if (index.each === position) return false;
    if (compute !== undefined) return order.has(field);
    return !model.optionalFields.has(field);
  });
}

function pinnedFields(segments: QueryPlan["segments"]): number {
  const [first] = segments;
  if (first === undefined) return 0;
  const isBounded = first.interval.start !== undefined || first.interval.end !== undefined;
  return first.equals.length * 2 + (isBounded || first.interval.isEmpty ? 1 : 0);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) {
    const difference = value - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** What a model has that serves a query. */
function existingKeys(model: CompiledModel, fields: QueryFields): ExistingKey[] {
  const serving = [undefined, ...model.indexes].filter(
    (index) => planOf(model, index, fields, () => specificationOrder) !== undefined,
  );
  return serving.map((index) => ({ index, isComplete: isComplete(model, index, fields) }));
}

function unindexed(model: CompiledModel, fields: QueryFields): UnindexedQueryError {
  for (const [field, { has }] of fields.conditions) {
    const schema = model.schema.shape[field];
    if (schema === undefined) continue;
    // No index would serve these.
    const isElement = isList(schema) || (has && canBeList(schema));
    assertFits({ isElement, isComputed: false }, has, (reason) => {
      throw new InvalidQueryError(model.name, field, reason);
    });
  }
  const names = [...new Set([...fields.conditions.keys(), ...fields.order.keys()])];
  const suggestion = suggestIndex(model, fields, (some) => existingKeys(model, some));
  return new UnindexedQueryError(model.name, names, suggestion);
}
