import { type KeyOrder, specificationOrder } from "@keywright/core";
import type { AnyQuery, Direction } from "../../context/any-query.js";
import { InvalidQueryError, type UnindexedQueryError } from "../../errors/query-errors.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { canBeList, isList } from "../../model/fields/key-kinds.js";
import { holdsSelection } from "./covered-read.js";
import type { FieldCondition } from "./field-condition.js";
import { type KeyField, keyFields } from "./key-fields.js";
import { namedIndex } from "./named-index.js";
import { parseQueryFields, type QueryFields } from "./query-fields.js";
import type { QueryPlan } from "./query-plan.js";
import { assertFits, segmentsOf } from "./segments.js";
import type { ExistingKey } from "./suggest-index.js";
import { unindexedQuery } from "./unindexed-error.js";

/** The options of a query that its plan depends on. */
export type PlannedQuery = Pick<AnyQuery, "where" | "orderBy" | "order" | "index" | "select">;

/**
 * Returns the plans that serve a query, best first. Plans that pin more fields come first, then
 * plans that read no rows in addition to index entries, then plans of unique indexes. Equal plans
 * are in the order of the model's indexes.
 *
 * All plans find the same rows. An index that normalizes a field finds other rows than an index
 * that does not. Of such indexes, the one that pins more fields, is unique, or comes first in the
 * model serves the query, whatever the query selects.
 *
 * @param order returns how the database orders its keys. Called only if that makes a difference.
 */
export function planQuery(
  model: CompiledModel,
  query: PlannedQuery,
  order: () => KeyOrder = () => specificationOrder,
): QueryPlan[] {
  const fields = parseQueryFields(model, query);
  const isForced = query.index !== undefined;
  if (!isForced && fields.conditions.size + fields.order.size === 0) {
    const reason =
      "the query has no where, orderBy or index; add one, or read every row with scan()";
    throw new InvalidQueryError(model.name, "where", reason);
  }
  const candidates =
    query.index !== undefined ? [namedIndex(model, query.index)] : [undefined, ...model.indexes];
  const plans: QueryPlan[] = [];
  for (const index of candidates) {
    const plan = planOf(model, index, fields, order);
    if (plan && (isForced || isComplete(model, index, fields))) plans.push(plan);
  }
  if (plans.length === 0) throw unindexedError(model, fields);
  if (plans.length === 1) return plans;
  const pinned = ({ segments }: QueryPlan) => pinnedFields(segments);
  const unique = ({ index }: QueryPlan) => Number(index === undefined || index.unique);
  const covers = ({ index }: QueryPlan) =>
    Number(index === undefined || holdsSelection(index, query.select));
  const [best] = sortByRank(plans, (plan) => [pinned(plan), unique(plan)]);
  const alike = plans.filter((plan) => findsSameRows(plan, best!, fields));
  return sortByRank(alike, (plan) => [pinned(plan), covers(plan), unique(plan)]);
}

/** True if two plans compare each field of the query with the same values of the rows. */
function findsSameRows(a: QueryPlan, b: QueryPlan, { conditions, order }: QueryFields): boolean {
  if (a.index === b.index) return true;
  for (const name of [...conditions.keys(), ...order.keys()]) {
    if (normalizerOf(a.index, name) !== normalizerOf(b.index, name)) return false;
  }
  return true;
}

function normalizerOf(index: CompiledIndex | undefined, name: string): unknown {
  return index?.parts.find(({ field }) => field === name)?.normalize;
}

export function planScan(model: CompiledModel, query: PlannedQuery): QueryPlan {
  const fields = parseQueryFields(model, query);
  for (const field of fields.conditions.keys()) {
    throw new InvalidQueryError(
      model.name,
      field,
      "scan() takes no where; use findMany, or test the condition in filter",
    );
  }
  const plan = planOf(model, undefined, fields, () => specificationOrder);
  if (plan !== undefined) return plan;
  const reason = "scan() can only sort by the primary key; use findMany with an index";
  throw new InvalidQueryError(model.name, [...fields.order.keys()].join(), reason);
}

/**
 * Returns the plan with which an index serves a query: values for its first fields, then bounds on
 * the next field, then the order. Undefined if it does not serve the query.
 */
function planOf(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  { conditions, order: ordered, direction }: QueryFields,
  order: () => KeyOrder,
): QueryPlan | undefined {
  const fields = keyFields(model, index);
  if (!isServed(fields, conditions)) return undefined;
  const reverse =
    direction === undefined ? directionOf(fields, conditions, ordered) : direction === "desc";
  if (reverse === undefined) return undefined;
  return { model, index, segments: segmentsOf(model, fields, conditions, order), reverse };
}

function isServed(
  fields: readonly KeyField[],
  conditions: ReadonlyMap<string, FieldCondition>,
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

/** Returns true for backward, false for forward, undefined if keys are not in this order. */
function directionOf(
  fields: readonly KeyField[],
  conditions: ReadonlyMap<string, FieldCondition>,
  ordered: ReadonlyMap<string, Direction>,
): boolean | undefined {
  if (ordered.size === 0) return false;
  const isPinned = ({ name }: KeyField) => conditions.get(name)?.isEqual === true;
  const free = [...ordered.keys()].filter(
    (name) => !fields.some((field) => field.name === name && isPinned(field)),
  );
  const remaining = fields.filter((field) => field.sameAs === undefined && !isPinned(field));
  const isBackward = (field: KeyField) => (ordered.get(field.name) === "desc") !== field.descending;
  if (free.length === 0) {
    // A field with one value has no order. But its direction may still say in which direction the
    // fields after it are read.
    const first = fields.find(({ name }) => ordered.has(name));
    return first !== undefined && isBackward(first);
  }
  const reverse = remaining[0] !== undefined && isBackward(remaining[0]);
  const isInOrder = free.every((name, i) => {
    const field = remaining[i];
    return field?.name === name && isBackward(field) === reverse;
  });
  return isInOrder ? reverse : undefined;
}

/**
 * True if an index has all rows that a query asks for. A row that lacks a field of the index is not
 * in it, and a row with an array has any number of entries, so the query must name such fields.
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

/** Counts 2 for each field with a value, and 1 for bounds. */
function pinnedFields(segments: QueryPlan["segments"]): number {
  const [first] = segments;
  if (first === undefined) return 0;
  const isBounded = first.interval.start !== undefined || first.interval.end !== undefined;
  return first.equals.length * 2 + (isBounded || first.interval.isEmpty ? 1 : 0);
}

/** Sorts plans by their ranks, the highest first. Plans of the same rank keep their order. */
function sortByRank(
  plans: readonly QueryPlan[],
  rankOf: (plan: QueryPlan) => readonly number[],
): QueryPlan[] {
  return plans
    .map((plan) => ({ plan, rank: rankOf(plan) }))
    .sort((a, b) => compareRanks(b.rank, a.rank))
    .map(({ plan }) => plan);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) {
    const difference = value - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

export function existingKeys(model: CompiledModel, fields: QueryFields): ExistingKey[] {
  const serving = [undefined, ...model.indexes].filter(
    (index) => planOf(model, index, fields, () => specificationOrder) !== undefined,
  );
  return serving.map((index) => ({ index, isComplete: isComplete(model, index, fields) }));
}

function unindexedError(model: CompiledModel, fields: QueryFields): UnindexedQueryError {
  for (const [field, { has }] of fields.conditions) {
    const schema = model.schema.shape[field];
    if (schema === undefined) continue;
    // No index could serve these conditions, so none is suggested.
    const isElement = isList(schema) || (has && canBeList(schema));
    assertFits({ isElement, isComputed: false }, has, (reason) => {
      throw new InvalidQueryError(model.name, field, reason);
    });
  }
  return unindexedQuery(model, fields, (queried) => existingKeys(model, queried));
}
